/** A search index that stays open while a server runs. */
import type { SearchFile } from "./search-file.ts";

export type KeptOpen = Disposable & {
  /** The open index. Opens it, if it is not open or its file was deleted. */
  current: () => SearchFile;
};

/** Keeps what `open` opens until it is disposed, also after the file was deleted: requests that are being served still read it. */
export function keepOpen(open: () => SearchFile): KeptOpen {
  const opened: SearchFile[] = [];
  return {
    current: () => {
      const last = opened.at(-1);
      if (last?.isInPlace()) return last;
      const index = open();
      opened.push(index);
      return index;
    },
    [Symbol.dispose]: () => {
      for (const index of opened) index.close();
    },
  };
}

/** Why a file that somebody named cannot be read, by the operating system's code. */
export const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
};

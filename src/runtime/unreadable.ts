/** Why a file cannot be read, by the error code of the operating system. */
export const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
};

/** Files that are embedded in the program (`with { type: "file" }`): the import is their path. */
declare module "*.gz" {
  const path: string;
  export default path;
}

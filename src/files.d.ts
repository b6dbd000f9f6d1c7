/** Files that are embedded in the program: the import is the path of a `.gz` (`with { type: "file" }`), the text of all others. */
declare module "*.gz" {
  const path: string;
  export default path;
}
declare module "*.client.js" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.lua" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.tsv" {
  const text: string;
  export default text;
}

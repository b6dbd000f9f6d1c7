/** Files that are embedded in the program (`with { type: "text" }`): the import is their text. */
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.client.js" {
  const text: string;
  export default text;
}

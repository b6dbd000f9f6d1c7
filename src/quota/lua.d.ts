/** Scripts embedded in the program (`with { type: "text" }`). The import is their text. */
declare module "*.lua" {
  const text: string;
  export default text;
}

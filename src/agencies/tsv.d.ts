/** Tables embedded in the program (`with { type: "text" }`). The import is their text. */
declare module "*.tsv" {
  const text: string;
  export default text;
}

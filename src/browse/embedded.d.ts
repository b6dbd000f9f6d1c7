/** Files embedded in the program (`with { type: "text" }`). The import is their text. */
declare module "*.svg" {
  const text: string;
  export default text;
}

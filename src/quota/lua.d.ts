/** Scripts that are embedded in the program (`with { type: "text" }`): the import is their text. */
declare module "*.lua" {
  const text: string;
  export default text;
}

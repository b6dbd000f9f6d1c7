/** Migrations are embedded as text: a compiled program has no folder to read. */
declare module "*.sql" {
  const text: string;
  export default text;
}

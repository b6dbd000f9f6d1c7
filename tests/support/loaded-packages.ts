/** Preloaded into a process, prints on standard error when it ends how many modules of each package it has loaded, as one JSON line. */
process.on("exit", () => {
  const modules: Record<string, number> = {};
  for (const path of Object.keys(require.cache)) {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    if (name !== undefined) modules[name] = (modules[name] ?? 0) + 1;
  }
  process.stderr.write(`${JSON.stringify(modules)}\n`);
});

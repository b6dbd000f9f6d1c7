#!/usr/bin/env node
// Starts the program of this platform, which npm installed as an optional dependency. Runs in Node 18 and later, and in Bun.
"use strict";
const { spawn } = require("node:child_process");

const isMusl = process.platform === "linux" && process.report?.getReport().header.glibcVersionRuntime === undefined;
const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}${isMusl ? "-musl" : ""}`;
const names = Object.keys(require("./package.json").optionalDependencies);
const name = names.find((each) => each.endsWith(`/${platform}`));

function fail(reason) {
  process.stderr.write(`fundfeed: ${reason}\n`);
  process.exit(1);
}

if (name === undefined) {
  const known = names.map((each) => each.slice(each.indexOf("/") + 1)).join(", ");
  fail(`there is no program for ${platform}, only for ${known}`);
}
let program;
try {
  program = require.resolve(`${name}/fundfeed${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  fail(`the package ${name} is missing: install fundfeed again, without --omit=optional`);
}
// A terminal sends its signals to both processes. Others are sent to this one only. Before the start, so that none ends this process alone.
let child;
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => signal !== "SIGINT" && child?.kill(signal));
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

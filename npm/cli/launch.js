// Starts a program of toolguard. The programs are in a package for each platform, of which npm installs
// the one that fits. Nothing runs at installation.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createRequire } from 'node:module';

/** Runs a program in place of this one: with its arguments, input, output, signals and exit code. */
export function launch(program) {
  const name = `@toolguard/cli-${process.platform}-${process.arch}`;
  let path;
  try {
    path = createRequire(import.meta.url).resolve(`${name}/bin/${program}${process.platform === 'win32' ? '.exe' : ''}`);
  } catch {
    console.error(`${program}: the package ${name} is not installed: install toolguard again without --omit=optional, and with a lock file that lists this package; if there is none for this platform, go install github.com/toolguard/toolguard/cmd/toolguard@latest builds the program`);
    process.exitCode = 2;
    return;
  }
  const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' });
  // A terminal sends its signals to both processes, so only others are passed on.
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const handlers = {};
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP', 'SIGTERM']) {
    handlers[signal] = () => {
      if (signal === 'SIGTERM' || !terminal) child.kill(signal);
    };
    process.on(signal, handlers[signal]);
  }
  child.on('error', (e) => {
    console.error(`${program}: ${path}: ${e.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    for (const [name, f] of Object.entries(handlers)) process.off(name, f);
    if (signal === null) {
      process.exitCode = code;
      return;
    }
    process.exitCode = 128 + constants.signals[signal]; // if this process outlives the signal
    process.kill(process.pid, signal);
  });
}

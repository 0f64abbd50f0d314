#!/usr/bin/env node
// Written so that any Node.js can parse it: an old one must get this far to be told.
const NEEDED = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major < NEEDED) {
  process.stderr.write(
    'solway needs Node.js ' +
      NEEDED +
      ' or newer, and this is ' +
      process.versions.node +
      '.\n' +
      'Install it from https://nodejs.org, or run: npx -p node@' +
      NEEDED +
      ' -p solway solway\n',
  );
  process.exitCode = 1;
} else {
  import('../dist/cli/main.js');
}

#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Written so that any Node.js can parse it: an old version must get as far as the error message.
const NEEDED = 24;
const major = Number(process.versions.node.split('.')[0]);

if (major < NEEDED) {
  process.stderr.write(
    'solway needs Node.js ' +
      NEEDED +
      ' or newer, and this is ' +
      process.versions.node +
      '.\n' +
      'Install Node.js ' +
      NEEDED +
      ' from https://nodejs.org and run this command again.\n',
  );
  process.exitCode = 1;
} else {
  import('../dist/src/cli/main.js').catch((error) => {
    if (existsSync(new URL('../dist/src/cli/main.js', import.meta.url))) throw error;
    process.stderr.write(
      'solway is not built here: run "npm run build" first, or from the sources "npm run solway -- <command>".\n',
    );
    process.exitCode = 1;
  });
}

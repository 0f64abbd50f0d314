import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exampleFile, referencePage } from '../../src/config/render.ts';

/** Files generated from the schema of the configuration, by path below the project. */
export const configDocs: Readonly<Record<string, () => string>> = {
  'config/solway.example.toml': exampleFile,
  'docs/reference/configuration.md': referencePage,
};

const root = join(import.meta.dirname, '../..');

if (import.meta.main)
  for (const [path, render] of Object.entries(configDocs)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), render());
  }

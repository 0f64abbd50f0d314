import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfiguration } from '../../src/config/configuration.ts';
import { configurationArguments, configurationOptions, parseArguments } from '../../src/config/sources.ts';
import { temporaryFolder } from '../service/program.ts';

export const folder = temporaryFolder('configuration');
export const file = join(folder, 'solway.toml');

type Environment = Record<string, string>;

export function load(toml: string | null, args: string[] = [], environment: Environment = {}) {
  if (toml !== null) writeFileSync(file, toml);
  const all = toml === null ? args : ['--config', file, ...args];
  return loadConfiguration(configurationArguments(parseArguments(all, configurationOptions)), environment);
}

/** Error message of loading a configuration, without the folder of the file. */
export function complaint(toml: string | null, args: string[] = [], environment: Environment = {}): string {
  try {
    load(toml, args, environment);
    return 'nothing';
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, '');
  }
}

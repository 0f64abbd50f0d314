import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LaunchOptions, startProgram, temporaryFolder } from './program.ts';

/** The ready line of `solway up --json`. */
export type Ready = Readonly<{
  event: 'ready';
  mode: 'development' | 'production';
  url: string;
  rpcUrl: string;
  wsUrl: string;
  grpcUrl: string;
  /** Only printed at the first start. */
  keys: readonly Readonly<{ product: 'rpc' | 'grpc' | 'fs'; id: string; key: string }>[];
}>;

export type RunningService = Readonly<{
  ready: Ready;
  /** The RPC key of the first start. */
  key: string;
  dataDir: string;
  config: string;
  process: ChildProcess;
  output: () => string;
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}>;

export type ServiceOptions = Readonly<{
  /** TOML lines. */
  configuration?: string;
  dataDir?: string;
  arguments?: readonly string[];
  timeoutMs?: number;
}> &
  LaunchOptions;

/** Unless a test configures them, the embedded ledger sends no shreds, which are half of its work. */
export const withoutShreds = (text: string): string =>
  text.includes('[shreds') ? text : `${text}\n[shreds]\nudp = false\n`;

export function writeConfiguration(text = '[localnet]\nslot_ms = 50\n'): string {
  const config = join(temporaryFolder('config'), 'solway.toml');
  writeFileSync(config, withoutShreds(text));
  return config;
}

/** Starts the real program on a free port, in development mode unless nodes are given. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const dataDir = options.dataDir ?? temporaryFolder('service');
  const config = writeConfiguration(options.configuration);
  const fixed = ['up', '--json', '--port', '0', '--data-dir', dataDir, '--config', config];
  const all = [...fixed, ...(options.arguments ?? [])];
  const hasNodes = /\[\[upstream\]\]|--upstream\b/.test(`${options.configuration} ${all.join(' ')}`);
  if (!hasNodes) all.push('--dev');
  const program = startProgram(all, undefined, options);
  const [line] = await program.said(/^\{"event":"ready".*\}$/m, options.timeoutMs);
  const ready = JSON.parse(line) as Ready;
  const key = ready.keys.find(({ product }) => product === 'rpc')?.key ?? '';
  const { process, output, stop } = program;
  return { ready, key, dataDir, config, process, output, stop };
}

import { runHere } from '../cli/run-solway.ts';
import { temporaryFolder } from './program.ts';
import type { RunningService } from './start-service.ts';

type KeyFacts = Readonly<{ id: string; state: string; name: string; lastUsedAt: number | null }>;
export type CreatedKey = Readonly<{ secret: string; key: KeyFacts }>;

const folder = temporaryFolder('keys');

/** Runs `solway keys …` against a service. @throws Error on failure. */
export async function keysCommand(
  { dataDir, config }: RunningService,
  ...args: readonly string[]
): Promise<CreatedKey> {
  const where = ['--json', '--data-dir', dataDir, '--config', config];
  const { code, out, err } = await runHere(folder, ['keys', ...args, ...where]);
  if (code !== 0) throw new Error(`keys ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as CreatedKey;
}

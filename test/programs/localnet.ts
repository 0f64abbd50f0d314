import { type Program, startProgram, temporaryFolder } from '../service/program.ts';
import type { RunningService } from '../service/start-service.ts';
import { createSendRequest, type SendRequest } from '../soak/ledger-truth.ts';

/** The embedded ledger as a program. */
export type RunningLocalnet = Readonly<{
  program: Program;
  rpcPort: number;
  pubsubPort: number;
  grpcPort: number;
  /** JSON-RPC of the ledger itself, without a gateway. */
  request: SendRequest;
}>;

/** On a busy machine. */
export const START_MS = 120_000;

export async function startLocalnet(slotMs: number, args: readonly string[] = []): Promise<RunningLocalnet> {
  const program = startProgram([
    ...['localnet', '--ledger', temporaryFolder('ledger'), '--rpc-port', '0', '--geyser-port', '0'],
    ...['--slot-ms', String(slotMs), '--json', ...args],
  ]);
  const [line] = await program.said(/^\{"event":"ready".*\}$/m, START_MS);
  const ports = JSON.parse(line) as Pick<RunningLocalnet, 'rpcPort' | 'pubsubPort' | 'grpcPort'>;
  return { ...ports, program, request: createSendRequest(`http://127.0.0.1:${ports.rpcPort}/`) };
}

export const logTail = ({ output }: RunningService, lines = 40): string =>
  output()
    .split('\n')
    .filter((line) => line.includes('"level":'))
    .slice(-lines)
    .join('\n');

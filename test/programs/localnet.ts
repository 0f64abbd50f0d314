import { type Program, startProgram, temporaryFolder } from '../service/program.ts';
import type { RunningService } from '../service/start-service.ts';
import { createSendRequest, type SendRequest } from '../soak/ledger-truth.ts';

/** A node of a ledger on this machine. */
export type RunningNode = Readonly<{
  rpcPort: number;
  pubsubPort: number;
  grpcPort: number;
  /** JSON-RPC of the node itself, without a gateway. */
  request: SendRequest;
  stop(): Promise<unknown>;
}>;

/** The embedded ledger as a program. */
export type RunningLocalnet = RunningNode & Readonly<{ program: Program }>;

const requestTo = (port: number): SendRequest => createSendRequest(`http://127.0.0.1:${port}/`);

/** On a busy machine. */
export const START_MS = 120_000;

export async function startLocalnet(slotMs: number, args: readonly string[] = []): Promise<RunningLocalnet> {
  const program = startProgram([
    ...['localnet', '--ledger', temporaryFolder('ledger'), '--rpc-port', '0', '--geyser-port', '0'],
    ...['--slot-ms', String(slotMs), '--json', ...args],
  ]);
  const [line] = await program.said(/^\{"event":"ready".*\}$/m, START_MS);
  const ports = JSON.parse(line) as Pick<RunningLocalnet, 'rpcPort' | 'pubsubPort' | 'grpcPort'>;
  return { ...ports, program, request: requestTo(ports.rpcPort), stop: () => program.stop() };
}

/** A node that runs already, for example solana-test-validator; `stop` does not stop it. */
export const runningNode = (rpcPort: number, grpcPort: number): RunningNode => ({
  ...{ rpcPort, grpcPort, request: requestTo(rpcPort), stop: async () => {} },
  // As in Agave.
  pubsubPort: rpcPort + 1,
});

export const logTail = ({ output }: RunningService, lines = 40): string =>
  output()
    .split('\n')
    .filter((line) => line.includes('"level":'))
    .slice(-lines)
    .join('\n');

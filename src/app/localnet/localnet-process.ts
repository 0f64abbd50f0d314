import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from '../../base/log.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Configuration } from '../../config/configuration.ts';
import { ledgerDir } from '../process/data-dir.ts';
import { RestartBackoff } from '../process/restart-backoff.ts';

/** Maximum time for the ledger to become ready. */
const READY_TIMEOUT_MS = 60_000;
/** Maximum time for the ledger to flush and close. */
const STOP_TIMEOUT_MS = 10_000;
/** Delay after a failed restart. */
const RETRY_DELAY_MS = 5_000;

type LocalnetProcessOptions = Configuration['localnet'] &
  Readonly<{ program: Program; ledgerDir: string; shredsTo: AddressInfo | null; log: Logger }>;

/** Ports of the ledger, which stay the same after a restart. */
export type LocalnetPorts = Readonly<{
  rpcPort: number;
  pubsubPort: number;
  /** null if Geyser is disabled. */
  geyserPort: number | null;
}>;

/** Message from the child process when it is ready. `solway localnet --json` prints the same object. */
type LocalnetReady = Pick<LocalnetPorts, 'rpcPort' | 'pubsubPort'> &
  Readonly<{ event: 'ready'; grpcPort: LocalnetPorts['geyserPort'] }>;

const portsOf = ({ rpcPort, pubsubPort, grpcPort: geyserPort }: LocalnetReady): LocalnetPorts => {
  return { rpcPort, pubsubPort, geyserPort };
};

const isReadyMessage = (message: unknown): message is LocalnetReady =>
  typeof message === 'object' && message !== null && (message as { event?: unknown }).event === 'ready';

export class EmbeddedLedgerError extends OperatorError {
  constructor(reason: string) {
    super(`the embedded ledger did not start: ${reason}`);
    this.name = 'EmbeddedLedgerError';
  }
}

/** Number of recent stderr lines to keep; they explain a failed start. */
const LAST_LINES_MAX = 20;
const LINE_MAX_CHARS = 2_000;

/**
 * Runs the embedded ledger in a child process: the VM aborts its process on some faults, and an account scan must not
 * block the gateway's event loop. A crashed child is restarted on the same ports and recovers from its write-ahead
 * log.
 */
class LocalnetProcess {
  readonly #options: LocalnetProcessOptions;
  readonly #backoff = new RestartBackoff();
  #child: ChildProcess | null = null;
  /** Restarts reuse the ports of the first start; 0: any free port. */
  #rpcPort: number;
  #geyserPort = 0;
  #isStopping = false;
  #readyAt = 0;
  #timer: NodeJS.Timeout | null = null;
  #lastLines: string[] = [];

  constructor(options: LocalnetProcessOptions) {
    this.#options = options;
    this.#rpcPort = options.rpcPort;
  }

  /** @throws EmbeddedLedgerError with the last error line of the child if it does not become ready. */
  async start(): Promise<LocalnetPorts> {
    const ports = await this.#spawn();
    this.#rpcPort = ports.rpcPort;
    this.#geyserPort = ports.geyserPort ?? this.#geyserPort;
    return ports;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const child = this.#child;
    // A child without a pid was never spawned and emits no exit event.
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    child.kill('SIGTERM');
    await once(child, 'exit');
    clearTimeout(timer);
  }

  #arguments(): string[] {
    const options = this.#options;
    return [
      'localnet',
      ...['--ledger', options.ledgerDir],
      ...['--rpc-port', String(this.#rpcPort)],
      ...['--geyser-port', String(this.#geyserPort)],
      ...(options.shredsTo === null ? [] : ['--shreds-to', toLocalAddress(options.shredsTo)]),
      ...['--slot-ms', String(options.slotMs)],
      ...['--slots-per-epoch', String(options.slotsPerEpoch)],
      ...['--faucet-sol', String(options.faucetSol)],
      ...['--limit-ledger-slots', String(options.historySlotsMax)],
      ...['--test-methods', options.testMethods ? 'on' : 'off'],
      '--quiet',
    ];
  }

  #spawn(): Promise<LocalnetPorts> {
    const [command, ...first] = this.#options.program;
    const child = spawn(command, [...first, ...this.#arguments()], {
      // The child reports readiness over the IPC channel and stops when the channel closes.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl+C signals the whole process group, but the ledger must respond until the gateway has drained.
      detached: true,
    });
    this.#child = child;
    this.#captureOutput(child);
    const { promise, resolve, reject } = Promise.withResolvers<LocalnetPorts>();
    let hasTimedOut = false;
    let isReady = false;
    const timer = setTimeout(() => {
      hasTimedOut = true;
      child.kill('SIGKILL');
    }, READY_TIMEOUT_MS);
    child.on('message', (message) => {
      if (!isReadyMessage(message)) return;
      isReady = true;
      this.#readyAt = performance.now();
      resolve(portsOf(message));
    });
    child.once('error', ({ message }) => reject(new EmbeddedLedgerError(message)));
    // `close`, unlike `exit`, is emitted after stderr has ended.
    child.once('close', (code, signal) => {
      if (hasTimedOut) reject(new EmbeddedLedgerError(`it was not ready after ${READY_TIMEOUT_MS} ms`));
      else if (!isReady) reject(new EmbeddedLedgerError(this.#exitReason(code, signal)));
      else if (!this.#isStopping) this.#restartAfter(code, signal);
    });
    return promise.finally(() => clearTimeout(timer));
  }

  #captureOutput(child: ChildProcess): void {
    this.#lastLines = [];
    if (child.stderr === null) return;
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#lastLines = [...this.#lastLines, line].slice(-LAST_LINES_MAX);
      this.#options.log.warn({ output: line.slice(0, LINE_MAX_CHARS) }, 'Embedded ledger output');
    });
  }

  /** The child's error text, with its command-line option replaced by the gateway's configuration option. */
  #exitReason(code: number | null, signal: NodeJS.Signals | null): string {
    const errorLine = this.#lastLines.findLast((line) => line.startsWith('solway: '));
    if (errorLine === undefined)
      return `it ${signal === null ? `exited with code ${code}` : `was killed by ${signal}`}; see the log`;
    return errorLine.slice('solway: '.length).replaceAll('--rpc-port', 'localnet.rpc_port');
  }

  #restartAfter(code: number | null, signal: NodeJS.Signals | null): void {
    const delay = this.#backoff.next(performance.now() - this.#readyAt);
    this.#options.log.warn(
      { code, signal, output: this.#lastLines, delay },
      'Embedded ledger exited; restarting it',
    );
    this.#scheduleRestart(delay);
  }

  #scheduleRestart(delay: number): void {
    this.#timer = setTimeout(() => {
      this.#spawn().catch((error: unknown) => {
        if (this.#isStopping) return;
        this.#options.log.error({ err: error }, 'Embedded ledger restart failed; retrying');
        this.#scheduleRestart(RETRY_DELAY_MS);
      });
    }, delay);
  }
}

/** Command line that starts this program, without the subcommand. */
export type Program = readonly [string, ...string[]];

/** Address through which this machine reaches the socket, as `host:port`. */
function toLocalAddress({ address, port, family }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/** @param shredsTo - where the ledger sends shreds; null: nowhere. @throws EmbeddedLedgerError */
export async function startLocalnet(
  { localnet, dataDir }: Configuration,
  program: Program,
  shredsTo: AddressInfo | null,
  log: Logger,
) {
  const ledger = new LocalnetProcess({ ...localnet, program, ledgerDir: ledgerDir(dataDir), shredsTo, log });
  return { ports: await ledger.start(), stop: () => ledger.stop() };
}

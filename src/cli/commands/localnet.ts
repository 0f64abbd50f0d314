import { ledgerErrorText } from '../../app/error-text.ts';
import { type CloneArguments, clusterUrl, readCloneOptions } from '../../app/localnet/clone-options.ts';
import { readGenesisFiles } from '../../app/localnet/genesis-files.ts';
import type { Localnet, LocalnetOptions } from '../../app/localnet/localnet.ts';
import { isLoopback } from '../../base/ip-address.ts';
import { createLogger } from '../../base/log.ts';
import { ArgumentsError } from '../../config/errors.ts';
import {
  localnetDefaults as defaults,
  SLOTS_PER_EPOCH_MAX,
  WARP_SLOT_MAX,
} from '../../config/schema-upstream.ts';
import { type OptionValues, parseArguments } from '../../config/sources.ts';
import { type Command, exitCodes, rejectArgument, type Terminal } from '../command.ts';
import { waitForShutdown } from '../wait-for-shutdown.ts';
import { type Groups, type SeveralValues, splitGroups } from './argument-groups.ts';
import { removeValidatorFlags } from './validator-flags.ts';

const help = `Usage: solway localnet [options]

Runs the embedded ledger alone: a Solana node on the real VM, in place of solana-test-validator.

Options:
  -l, --ledger DIR             ledger folder (default ${defaults.ledgerDir}); the next start resumes from it
  -r, --reset                  start from a new genesis
  --rpc-port PORT              JSON-RPC over HTTP (default ${defaults.rpcPort}; 0: any free port); WebSockets use the next
                               port
  --geyser-port PORT           Yellowstone gRPC, without a key (default ${defaults.geyserPort}, or any free port if it
                               is in use; 0: any free port; off: none)
  --bind-address HOST          address to listen on (default ${defaults.host})
  --account ADDRESS FILE       load an account in the format of "solana account --output json"; repeatable
  --account-dir DIR            load every account file of a folder
  --bpf-program ADDRESS FILE   load a compiled program; repeatable; also by name, as in --clone-program
  --upgradeable-program ADDRESS FILE AUTHORITY
                               load a program with an upgrade authority: an address, a keypair file or none
  --mint ADDRESS               account that receives 500,000,000 SOL
  -u, --url URL                cluster to copy from: its URL, or mainnet-beta, testnet, devnet, localhost or their
                               first letter
  --fork                       read accounts of the cluster when they are first needed, and keep them
  -c, --clone ADDRESS...       copy accounts; repeatable
  --maybe-clone ADDRESS...     copy accounts if they exist; repeatable
  --clone-upgradeable-program ADDRESS...
                               copy upgradeable programs and their program data; repeatable
  --deep-clone-address-lookup-table ADDRESS...
                               copy lookup tables and the accounts they list, if these exist; repeatable
  --clone-program PROGRAM...   copy programs of any loader, by address or by name: token-metadata, core, bubblegum
                               (with account compression and noop), account-compression, noop, sns; repeatable
  --slots-per-epoch SLOTS      length of an epoch (default ${defaults.slotsPerEpoch})
  --ticks-per-slot TICKS       ticks of a slot (default ${defaults.ticksPerSlot})
  --slot-ms MS                 length of a slot (default ${defaults.slotMs})
  --faucet-sol SOL             balance of the faucet (default ${defaults.faucetSol})
  --faucet-port PORT           port of a faucet server as of solana-test-validator (0: any free port)
  --gossip-port PORT           UDP port of the gossip address; it never responds (default: any free port)
  --shreds-to HOST:PORT        send shreds over UDP before their transactions execute; repeatable
  --shred-lead-ms MS           minimum time between a shred and its execution (default ${defaults.shredLeadMs}, at most 1000)
  --test-methods on|off        methods that change accounts and the clock, for tests (default: on if the address
                               to listen on is a loopback address)
  -w, --warp-slot SLOT         create blocks up to this slot first (at most ${WARP_SLOT_MAX})
  --limit-ledger-slots SLOTS   slots of history to keep, at least 200 (default ${defaults.historySlotsMax})
  --rpc-pubsub-enable-block-subscription, --rpc-pubsub-enable-vote-subscription
                               accepted for compatibility; both subscriptions are always enabled
  -q, --quiet                  print only warnings and errors
  --json                       print one line of JSON when ready, instead of text

Accounts, copies, programs, mint, epoch length, ticks and faucet apply at genesis: an existing ledger ignores
them unless --reset is given. Other options of solana-test-validator are ignored with a note if callers would see
no difference, and rejected with a reason otherwise.

Examples:
  solway localnet --reset
  solway localnet --ledger /tmp/ledger --rpc-port 8899
  solway localnet --reset --bpf-program MyProgram1111111111111111111111111111111111 target/deploy/my.so
  solway localnet --reset --url mainnet-beta --clone-program token-metadata bubblegum
  solway localnet --reset --url mainnet-beta --fork
`;

const options = {
  ledger: { type: 'string', short: 'l' },
  reset: { type: 'boolean', short: 'r' },
  'rpc-port': { type: 'string' },
  'geyser-port': { type: 'string' },
  'shreds-to': { type: 'string', multiple: true },
  'shred-lead-ms': { type: 'string' },
  'bind-address': { type: 'string' },
  account: { type: 'string', multiple: true },
  'account-dir': { type: 'string', multiple: true },
  'bpf-program': { type: 'string', multiple: true },
  'slots-per-epoch': { type: 'string' },
  'ticks-per-slot': { type: 'string' },
  'slot-ms': { type: 'string' },
  'faucet-sol': { type: 'string' },
  'faucet-port': { type: 'string' },
  'gossip-port': { type: 'string' },
  mint: { type: 'string' },
  url: { type: 'string', short: 'u' },
  fork: { type: 'boolean' },
  'test-methods': { type: 'string' },
  'warp-slot': { type: 'string', short: 'w' },
  'limit-ledger-slots': { type: 'string' },
  'rpc-pubsub-enable-block-subscription': { type: 'boolean' },
  'rpc-pubsub-enable-vote-subscription': { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  json: { type: 'boolean' },
} as const;

const severalValues: SeveralValues = new Map([
  ['--account', ['ADDRESS', 'FILE']],
  ['--bpf-program', ['ADDRESS', 'FILE']],
  ['--upgradeable-program', ['ADDRESS', 'FILE', 'AUTHORITY']],
  ['--clone', null],
  ['-c', null],
  ['--maybe-clone', null],
  ['--clone-upgradeable-program', null],
  ['--deep-clone-address-lookup-table', null],
  ['--clone-program', null],
]);

function whole(name: string, text: string | undefined, min: number, max: number, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new ArgumentsError(`--${name}: "${text.slice(0, 32)}" is not a whole number from ${min} to ${max}`);
}

function parse(args: readonly string[]) {
  const filtered = removeValidatorFlags(args);
  const { rest, groups } = splitGroups(filtered.rest, severalValues);
  const parsed = parseArguments(rest, options);
  rejectArgument('localnet', parsed.positionals[0]);
  return { values: parsed.values as Values, groups, notes: filtered.notes };
}

type Values = OptionValues<typeof options>;
type Parsed = ReturnType<typeof parse>;

/** How long to wait for the ledger process of a killed gateway: it exits by itself, but may still be writing. */
const PREDECESSOR_WAIT_MS = 15_000;

type NumberOption = Extract<keyof Values, `${string}-${'port' | 'ms' | 'sol' | 'slot' | 'slots' | 'epoch'}`>;

function readOptions({ values, groups }: Parsed, log: LocalnetOptions['log']): LocalnetOptions {
  const number = (name: NumberOption, least: number, most: number, usual: number): number =>
    whole(name, values[name], least, most, usual);
  const numbers = {
    rpcPort: number('rpc-port', 0, 65_534, defaults.rpcPort),
    slotsPerEpoch: number('slots-per-epoch', 32, SLOTS_PER_EPOCH_MAX, defaults.slotsPerEpoch),
    ticksPerSlot: number('ticks-per-slot', 1, 65_535, defaults.ticksPerSlot),
    gossipPort: number('gossip-port', 0, 65_535, 0),
    warpSlot: number('warp-slot', 0, WARP_SLOT_MAX, 0),
    slotMs: number('slot-ms', 10, 60_000, defaults.slotMs),
    shredLeadMs: number('shred-lead-ms', 0, 1_000, defaults.shredLeadMs),
    faucetSol: BigInt(number('faucet-sol', 0, 500_000_000, defaults.faucetSol)),
    limits: { historySlotsMax: number('limit-ledger-slots', 200, 2 ** 48, defaults.historySlotsMax) },
  };
  const faucetPort = values['faucet-port'] === undefined ? null : number('faucet-port', 0, 65_535, 0);
  const geyserPorts = geyserPortsOf(values['geyser-port']);
  const genesis = readGenesisFiles({
    accounts: groups.get('--account') ?? [],
    accountDirs: values['account-dir'] ?? [],
    programs: [...(groups.get('--bpf-program') ?? []), ...(groups.get('--upgradeable-program') ?? [])],
    mint: values.mint ?? null,
  });
  const url = values.url === undefined ? null : clusterUrl(values.url);
  if (values.fork === true && url === null)
    throw new ArgumentsError('--fork needs --url: the cluster to read from');
  const forkUrl = values.fork === true ? url : null;
  const clones = readCloneOptions(url, cloneArguments(groups), log);
  const {
    reset = false,
    ledger: ledgerDir = defaults.ledgerDir,
    'bind-address': host = defaults.host,
  } = values;
  const shredsTo = (values['shreds-to'] ?? []).map(shredTarget);
  const inUseWaitMs = process.channel === undefined ? 0 : PREDECESSOR_WAIT_MS;
  const testMethods = areTestMethodsOn(values['test-methods'], host);
  const listeners = { host, faucetPort, geyserPorts, shredsTo, testMethods };
  return { ledgerDir, reset, inUseWaitMs, ...listeners, ...numbers, ...genesis, ...clones, forkUrl, log };
}

function areTestMethodsOn(given: string | undefined, host: string): boolean {
  if (given === undefined) return isLoopback(host);
  if (given === 'on' || given === 'off') return given === 'on';
  throw new ArgumentsError(`--test-methods: "${given.slice(0, 32)}" is neither on nor off`);
}

function cloneArguments(groups: Groups): CloneArguments {
  const all = (...names: string[]): string[] => names.flatMap((name) => (groups.get(name) ?? []).flat());
  return {
    accounts: all('--clone', '-c'),
    maybeAccounts: all('--maybe-clone'),
    upgradeablePrograms: all('--clone-upgradeable-program'),
    lookupTables: all('--deep-clone-address-lookup-table'),
    programs: all('--clone-program'),
  };
}

/** Parses "host:port"; an IPv6 address must be in brackets. */
function shredTarget(text: string): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const [host, port] = [bracketed ?? plain, Number(digits)];
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new ArgumentsError(`--shreds-to: "${text.slice(0, 64)}" is not a HOST:PORT such as 127.0.0.1:8001`);
}

/** Ports to try in turn; an explicit port has no fallback. */
function geyserPortsOf(given: string | undefined): readonly number[] {
  if (given === undefined) return [defaults.geyserPort, 0];
  return given === 'off' ? [] : [whole('geyser-port', given, 0, 65_535, 0)];
}

function describe(localnet: Localnet, { ledgerDir, host }: LocalnetOptions): string {
  const { rpcPort, pubsubPort, geyserPort, genesis, tip } = localnet;
  const geyser = geyserPort === null ? '' : `\n  Geyser (gRPC): http://${host}:${geyserPort}`;
  return `
The ledger is ready.

  JSON-RPC: http://${host}:${rpcPort}
  WebSocket: ws://${host}:${pubsubPort}${geyser}
  Ledger: ${ledgerDir}
  Identity: ${genesis.identity}
  Genesis hash: ${genesis.hash}
  Slot: ${tip()}, one every ${genesis.slotMs} ms

  Stop with Ctrl+C. The next start resumes from here.
`;
}

async function runUntilShutdown(
  settings: LocalnetOptions,
  { json, quiet }: Values,
  terminal: Terminal,
): Promise<void> {
  const shutdown = waitForShutdown();
  // Loading the VM is slow, so options are checked first.
  const { startLocalnet } = await import('../../app/localnet/localnet.ts');
  const localnet = await startLocalnet({ ...settings, onFailure: () => process.exit(exitCodes.problem) });
  const { rpcPort, pubsubPort, faucetPort, geyserPort } = localnet;
  const optional = faucetPort === null ? {} : { faucetPort };
  const ready = { event: 'ready', rpcPort, pubsubPort, grpcPort: geyserPort, ...optional };
  if (json === true) terminal.out(`${JSON.stringify(ready)}\n`);
  else if (quiet !== true) terminal.out(describe(localnet, settings));
  process.send?.(ready);
  await shutdown;
  await localnet.stop();
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parse(args);
  const log = createLogger(parsed.values.quiet === true ? 'warn' : 'info', terminal.err);
  for (const note of parsed.notes) terminal.err(`solway: ${note}\n`);
  try {
    await runUntilShutdown(readOptions(parsed, log), parsed.values, terminal);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof ArgumentsError) throw error;
    terminal.err(`solway: ${ledgerErrorText(error)}\n`);
    return exitCodes.problem;
  }
}

export const command: Command = { help, run };

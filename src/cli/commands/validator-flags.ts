import { UsageError } from '../command.ts';

/** Handling of solana-test-validator options that localnet does not implement. */
type FlagRule = Readonly<{
  /** Values that follow it. */
  values: 0 | 1;
  /** `ignored`: callers see no difference; `refused`: not supported. */
  action: 'ignored' | 'refused';
  reason: string;
}>;

const ignored = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'ignored', reason });
const refused = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'refused', reason });

const NO_GOSSIP = 'the ledger has no gossip';
const NO_NETWORK =
  'localnet does not clone from other clusters; save the account with "solana account --output json" and pass it with --account';
const ALWAYS_ON = 'it is always enabled';
const NO_LIMIT = 'the faucet is limited only by its balance';

const flagRules: ReadonlyMap<string, FlagRule> = new Map<string, FlagRule>([
  ['--log', ignored(0, 'logs always go to standard error')],
  ['--config', ignored(1, 'the configuration of the Solana CLI is not used')],
  ['-C', ignored(1, 'the configuration of the Solana CLI is not used')],
  ['--gossip-host', ignored(1, NO_GOSSIP)],
  ['--dynamic-port-range', ignored(1, NO_GOSSIP)],
  ['--enable-rpc-transaction-history', ignored(0, ALWAYS_ON)],
  ['--enable-extended-tx-metadata-storage', ignored(0, ALWAYS_ON)],
  ['--limit-ledger-size', ignored(1, 'the ledger does not count shreds; use --limit-ledger-slots')],
  ['--faucet-per-request-sol-cap', ignored(1, NO_LIMIT)],
  ['--faucet-per-time-sol-cap', ignored(1, NO_LIMIT)],
  ['--faucet-time-slice-secs', ignored(1, NO_LIMIT)],
  ['--clone', refused(1, NO_NETWORK)],
  ['-c', refused(1, NO_NETWORK)],
  ['--maybe-clone', refused(1, NO_NETWORK)],
  ['--clone-upgradeable-program', refused(1, NO_NETWORK)],
  ['--clone-feature-set', refused(0, NO_NETWORK)],
  ['--url', refused(1, NO_NETWORK)],
  ['-u', refused(1, NO_NETWORK)],
  ['--deactivate-feature', refused(1, 'the VM runs with all features active')],
  ['--geyser-plugin-config', refused(1, 'plugins are built for Agave and cannot be loaded')],
  ['--compute-unit-limit', refused(1, 'the VM uses the limits of a real cluster')],
  ['--max-compute-units', refused(1, 'the VM uses the limits of a real cluster')],
  ['--transaction-account-lock-limit', refused(1, 'the VM uses the limits of a real cluster')],
  ['--enable-rpc-bigtable-ledger-storage', refused(0, 'the ledger has no external storage')],
]);

/** Remaining arguments, and a note about each ignored option. */
export type FilteredArguments = Readonly<{ rest: readonly string[]; notes: readonly string[] }>;

/**
 * Removes solana-test-validator options that have no meaning here.
 * @throws UsageError for an unsupported option, with the reason.
 */
export function withoutValidatorFlags(args: readonly string[]): FilteredArguments {
  const rest: string[] = [];
  const notes: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [name = '', inline] = (args[i] ?? '').split('=', 2);
    const found = flagRules.get(name);
    if (found === undefined) {
      rest.push(args[i] ?? '');
      continue;
    }
    if (found.action === 'refused') throw new UsageError(`${name} is not supported: ${found.reason}`);
    notes.push(`${name} has no effect: ${found.reason}`);
    if (inline === undefined) i += found.values;
  }
  return { rest, notes };
}

import { ArgumentsError } from '../../config/errors.ts';

/** How to handle a solana-test-validator option that localnet does not implement. */
type FlagRule = Readonly<{
  values: 0 | 1;
  /** `ignored`: callers see no difference; `unsupported`: the command fails. */
  action: 'ignored' | 'unsupported';
  reason: string;
}>;

const ignored = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'ignored', reason });
const unsupported = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'unsupported', reason });

const NO_GOSSIP = 'the ledger has no gossip';
const ALL_FEATURES = 'the VM runs with all features active';
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
  ['--clone-feature-set', unsupported(0, ALL_FEATURES)],
  ['--deactivate-feature', unsupported(1, ALL_FEATURES)],
  ['--geyser-plugin-config', unsupported(1, 'plugins are built for Agave and cannot be loaded')],
  ['--compute-unit-limit', unsupported(1, 'the VM uses the limits of a real cluster')],
  ['--max-compute-units', unsupported(1, 'the VM uses the limits of a real cluster')],
  ['--transaction-account-lock-limit', unsupported(1, 'the VM uses the limits of a real cluster')],
  ['--enable-rpc-bigtable-ledger-storage', unsupported(0, 'the ledger has no external storage')],
]);

type FilteredArguments = Readonly<{ rest: readonly string[]; notes: readonly string[] }>;

/** Removes options that have no effect here. @throws ArgumentsError for an unsupported option, with the reason. */
export function removeValidatorFlags(args: readonly string[]): FilteredArguments {
  const rest: string[] = [];
  const notes: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const [name = '', inline] = (args[i] ?? '').split('=', 2);
    const found = flagRules.get(name);
    if (found === undefined) {
      rest.push(args[i] ?? '');
      continue;
    }
    if (found.action === 'unsupported') throw new ArgumentsError(`${name} is not supported: ${found.reason}`);
    notes.push(`${name} has no effect: ${found.reason}`);
    if (inline === undefined) i += found.values;
  }
  return { rest, notes };
}

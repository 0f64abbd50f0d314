import { UsageError } from '../command.ts';

/** Handling of options of solana-test-validator that have no meaning here. */
type FlagRule = Readonly<{
  /** Values that follow it. */
  values: 0 | 1;
  /** `passed over`: it would change nothing that callers see; `refused`: it cannot be had. */
  action: 'passed over' | 'refused';
  reason: string;
}>;

const ignored = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'passed over', reason });
const refused = (values: 0 | 1, reason: string): FlagRule => ({ values, action: 'refused', reason });

const NO_GOSSIP = 'the ledger is alone and speaks no gossip';
const NO_NETWORK =
  'nothing is copied from other clusters: save it with "solana account --output json" and give it with --account';
const ALWAYS_ON = 'it is always on';
const NO_LIMIT = 'the faucet gives what it has';

const flagRules: ReadonlyMap<string, FlagRule> = new Map<string, FlagRule>([
  ['--log', ignored(0, 'the log goes to the error output in any case')],
  ['--config', ignored(1, 'the settings of the command line tools are not read')],
  ['-C', ignored(1, 'the settings of the command line tools are not read')],
  ['--gossip-host', ignored(1, NO_GOSSIP)],
  ['--dynamic-port-range', ignored(1, NO_GOSSIP)],
  ['--enable-rpc-transaction-history', ignored(0, ALWAYS_ON)],
  ['--enable-extended-tx-metadata-storage', ignored(0, ALWAYS_ON)],
  ['--limit-ledger-size', ignored(1, 'the ledger has no shreds to count: see --limit-ledger-slots')],
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
  ['--compute-unit-limit', refused(1, 'the VM has the limits of a real cluster')],
  ['--max-compute-units', refused(1, 'the VM has the limits of a real cluster')],
  ['--transaction-account-lock-limit', refused(1, 'the VM has the limits of a real cluster')],
  ['--enable-rpc-bigtable-ledger-storage', refused(0, 'there is no storage beside the ledger')],
]);

/** The arguments without those options, and a line about each that was passed over. */
export type FilteredArguments = Readonly<{ rest: readonly string[]; notes: readonly string[] }>;

/**
 * Takes out what solana-test-validator understands and the embedded ledger does without.
 * @throws UsageError for what cannot be had, saying why.
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
    if (found.action === 'refused') throw new UsageError(`${name} is not possible here: ${found.reason}`);
    notes.push(`${name} has no effect: ${found.reason}`);
    if (inline === undefined) i += found.values;
  }
  return { rest, notes };
}

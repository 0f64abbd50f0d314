import type { CloneRequest } from '../../../packages/localnet/src/fork/clone-accounts.ts';
import type { LocalNodeOptions } from '../../../packages/localnet/src/genesis/open.ts';
import type { Logger } from '../../base/log.ts';
import { ArgumentsError, showValue } from '../../config/errors.ts';
import type { Address } from '../../solana/address.ts';
import { addressArgument, programArgument } from './genesis-files.ts';
import { wellKnownProgram } from './well-known-programs.ts';

/** Source: Agave clap-utils, `normalize_to_url_if_moniker`. */
const MAINNET = 'https://api.mainnet-beta.solana.com';
const TESTNET = 'https://api.testnet.solana.com';
const DEVNET = 'https://api.devnet.solana.com';
const LOCALHOST = 'http://localhost:8899';
const monikers: ReadonlyMap<string, string> = new Map([
  ['mainnet-beta', MAINNET],
  ['m', MAINNET],
  ['testnet', TESTNET],
  ['t', TESTNET],
  ['devnet', DEVNET],
  ['d', DEVNET],
  ['localhost', LOCALHOST],
  ['l', LOCALHOST],
]);

/** URL of a cluster, given as such or as a moniker. @throws ArgumentsError */
export function clusterUrl(text: string): string {
  const url = monikers.get(text) ?? text;
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new ArgumentsError(
    `--url: ${showValue(text)} is neither an http(s) URL nor one of mainnet-beta, testnet, devnet, localhost`,
  );
}

/** Values of the options by field. */
export type CloneArguments = Readonly<Record<keyof CloneRequest, readonly string[]>>;

const optionNames: Readonly<Record<keyof CloneRequest, string>> = {
  accounts: '--clone',
  maybeAccounts: '--maybe-clone',
  upgradeablePrograms: '--clone-upgradeable-program',
  lookupTables: '--deep-clone-address-lookup-table',
  programs: '--clone-program',
};

/**
 * Option of the ledger that clones accounts when a new ledger is created.
 * @param url - of the cluster; null if not given.
 * @throws ArgumentsError for an invalid address, or if accounts are to be cloned without URL.
 */
export function readCloneOptions(
  url: string | null,
  texts: CloneArguments,
  log: Logger,
): Pick<LocalNodeOptions, 'clone'> {
  const fields = Object.entries(optionNames) as [keyof CloneRequest, string][];
  const used = fields.find(([field]) => texts[field].length > 0);
  if (used === undefined) return {};
  if (url === null) throw new ArgumentsError(`${used[1]} needs --url: the cluster to read from`);
  const addresses = (field: keyof CloneRequest) =>
    texts[field].map((text) => addressArgument(optionNames[field], text));
  const request: CloneRequest = {
    accounts: addresses('accounts'),
    maybeAccounts: addresses('maybeAccounts'),
    upgradeablePrograms: addresses('upgradeablePrograms'),
    lookupTables: addresses('lookupTables'),
    programs: texts.programs.flatMap(programsArgument),
  };
  return { clone: () => clone(url, request, log) };
}

/** A well-known program comes with those it calls. */
function programsArgument(text: string): readonly Address[] {
  const known = wellKnownProgram(text);
  if (known !== null) return [known.address, ...(known.calls ?? [])];
  return [programArgument(optionNames.programs, text)];
}

/** Imported only if needed, because loading the VM is slow. */
async function clone(url: string, request: CloneRequest, log: Logger) {
  const { cloneAccounts } = await import('../../../packages/localnet/src/fork/clone-accounts.ts');
  const { RemoteAccounts } = await import('../../../packages/localnet/src/fork/remote-accounts.ts');
  return cloneAccounts(new RemoteAccounts(url), request, log);
}

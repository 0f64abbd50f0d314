import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { optional, readFlag, readPlainStruct, readString } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programDataAddressOf } from '../bank/vm-accounts.ts';
import { withContext } from '../rpc/context.ts';
import type { LedgerControls } from './ledger-controls.ts';
import { requireSettable } from './test-method.ts';

/** `pubkey, {includeOwnedAccounts}`. */
function parse(params: JsonValue | undefined): { address: Address; includeOwned: boolean } {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const includeOwned = optional(list[1], (value) =>
    readFlag(readPlainStruct(value, 'ResetAccountConfig', ['includeOwnedAccounts']), 'includeOwnedAccounts'),
  );
  return { address: readAddress(text), includeOwned: includeOwned ?? false };
}

/** Removes an account, and the program data of an upgradeable program. On a fork, the next use reads them again. */
export async function resetAccount(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const { address, includeOwned } = parse(params);
  requireSettable(address);
  const { node } = controls;
  const account = node.newestAccount(address);
  const code = account === null ? null : programDataAddressOf(account);
  const owned = includeOwned ? node.bank('processed').accountsByOwner(address) : [];
  const addresses = [address, ...(code === null ? [] : [code]), ...[...owned].map(([each]) => each)];
  await controls.change(addresses.map((each) => [each, null]));
  node.fork?.forget(addresses);
  return withContext(node.bank('confirmed'), null);
}

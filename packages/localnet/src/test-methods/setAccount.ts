import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import {
  optionalMember,
  readBoolean,
  readPlainStruct,
  readString,
  readU64,
} from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { rentExemptMinimum } from '../bank/sysvar-accounts.ts';
import { withContext } from '../rpc/context.ts';
import type { LedgerControls } from './ledger-controls.ts';
import { requireSettable } from './test-method.ts';

type AccountUpdate = Readonly<{ [Field in keyof Account]: Account[Field] | null }>;

const FIELDS = ['lamports', 'data', 'owner', 'executable', 'rentEpoch'];

function readHex(value: JsonValue): Uint8Array {
  const text = readString(value);
  if (text.length % 2 === 0 && /^[0-9a-f]*$/i.test(text)) return new Uint8Array(Buffer.from(text, 'hex'));
  throw invalidParams('Invalid hex data provided: expected an even number of hexadecimal digits');
}

/** `pubkey, {lamports, data, owner, executable, rentEpoch}`; the data is hexadecimal. */
function parse(params: JsonValue | undefined): { address: Address; update: AccountUpdate } {
  const list = positional(params, 2, 2);
  const text = at(list, 0, readString);
  const struct = at(list, 1, (value) => readPlainStruct(value, 'AccountUpdate', FIELDS));
  const balance = optionalMember(struct, 'lamports', readU64);
  const owner = optionalMember(struct, 'owner', readString);
  const update = {
    lamports: balance === null ? null : lamports(balance),
    data: optionalMember(struct, 'data', readHex),
    owner: owner === null ? null : readAddress(owner),
    executable: optionalMember(struct, 'executable', readBoolean),
    rentEpoch: optionalMember(struct, 'rentEpoch', readU64),
  };
  return { address: readAddress(text), update };
}

/** Without a balance, a new account is exempt from rent. */
function newAccount({ data }: AccountUpdate): Account {
  const bytes = data?.length ?? 0;
  const balance = rentExemptMinimum(bytes);
  const fields = { data: new Uint8Array(), owner: programs.system, executable: false, rentEpoch: 0n };
  return { ...fields, lamports: balance };
}

/** Creates or changes an account; absent fields stay as they are. A balance of 0 removes it. */
export async function setAccount(
  controls: LedgerControls,
  params: JsonValue | undefined,
): Promise<WritableJson> {
  const { address, update } = parse(params);
  requireSettable(address);
  await controls.ensure([address]);
  const before = controls.node.newestAccount(address) ?? newAccount(update);
  const given = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
  const account: Account = { ...before, ...given };
  await controls.change([[address, account.lamports === 0n ? null : account]]);
  return withContext(controls.node.bank('confirmed'), null);
}

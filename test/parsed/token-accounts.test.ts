import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountLayout, AccountState, AccountType } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from '../../src/base/json.ts';
import { address } from '../../src/solana/address.ts';
import { encodeAccount } from '../../src/solana/encoding/ui-account.ts';
import { lamports } from '../../src/solana/units.ts';

/** Needs ../shared/data/rest/token-accounts: mainnet getTokenAccountsByOwner answers, jsonParsed. */
const folder = join(import.meta.dirname, '../../../shared/data/rest/token-accounts');
const present = existsSync(folder);

// biome-ignore lint/suspicious/noExplicitAny: recorded answers have no type of their own
type Recorded = any;

const recorded: Recorded[] = present
  ? readdirSync(folder).flatMap((file) => {
      const { result } = parseJson(readFileSync(join(folder, file), 'utf8')) as Recorded;
      return result.value;
    })
  : [];

const key = (text: string | undefined): PublicKey =>
  text === undefined ? PublicKey.default : new PublicKey(text);

function extensionBytes({ extension, state }: Recorded): Buffer {
  if (extension === 'immutableOwner') return Buffer.from([7, 0, 0, 0]);
  if (extension !== 'transferFeeAmount') throw new Error(`no layout for ${extension}`);
  const withheld = Buffer.alloc(8);
  withheld.writeBigUInt64LE(BigInt(state.withheldAmount));
  return Buffer.concat([Buffer.from([2, 0, 8, 0]), withheld]);
}

function dataOf({ parsed, space }: Recorded): Uint8Array {
  const { info } = parsed;
  const data = Buffer.alloc(165);
  AccountLayout.encode(
    {
      mint: key(info.mint),
      owner: key(info.owner),
      amount: BigInt(info.tokenAmount.amount),
      delegateOption: info.delegate === undefined ? 0 : 1,
      delegate: key(info.delegate),
      state: info.state === 'frozen' ? AccountState.Frozen : AccountState.Initialized,
      isNativeOption: info.isNative ? 1 : 0,
      isNative: BigInt(info.rentExemptReserve?.amount ?? 0),
      delegatedAmount: BigInt(info.delegatedAmount?.amount ?? 0),
      closeAuthorityOption: info.closeAuthority === undefined ? 0 : 1,
      closeAuthority: key(info.closeAuthority),
    },
    data,
  );
  if (space === 165) return data;
  const extensions = (info.extensions ?? []).map(extensionBytes);
  return Buffer.concat([data, Buffer.from([AccountType.Account]), ...extensions], space);
}

describe.skipIf(!present)('recorded token accounts (../shared/data, token-accounts)', () => {
  it('are shown byte for byte as recorded', () => {
    for (const { account, pubkey } of recorded) {
      const held = {
        lamports: lamports(account.lamports),
        data: dataOf(account.data),
        owner: address(account.owner),
        executable: account.executable,
        rentEpoch: BigInt(account.rentEpoch),
      };
      const { decimals } = account.data.parsed.info.tokenAmount;
      const shown = encodeAccount(address(pubkey), held, 'jsonParsed', null, { mint: () => ({ decimals }) });
      expect(JSON.stringify(JSON.parse(writeJson(shown)))).toBe(
        JSON.stringify(JSON.parse(writeJson(account))),
      );
    }
    expect(recorded.length).toBeGreaterThan(50);
  });
});

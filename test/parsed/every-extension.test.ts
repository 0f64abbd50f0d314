import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/base/bytes.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { programs } from '../../src/solana/programs.ts';
import { LAST_EXTENSION_TYPE } from '../../src/solana/token/extensions.ts';
import { bytesOf, fill, membersOf, shownAccount, table } from './rows/row.ts';

/** Extension bytes and their parsed state; no state when only the name is shown. */
type ExtensionRow = Readonly<{
  extension: string;
  type: number;
  on: 'mint' | 'account';
  value: Uint8Array;
  state: Readonly<Record<string, JsonValue>> | null;
}>;

/** Account kind, name and type; bytes; state. Source: spl-token-2022-interface, `ExtensionType`. */
const extensionRows: readonly ExtensionRow[] = table(`
  mint transferFeeConfig 1 | @8 32*0 5:64 1:64 100:64 10:16 2:64 18446744073709551615:64 20:16 |
    transferFeeConfigAuthority=@8 withdrawWithheldAuthority=null withheldAmount=5
    olderTransferFee={epoch:1,maximumFee:100,transferFeeBasisPoints:10}
    newerTransferFee={epoch:2,maximumFee:18446744073709551615,transferFeeBasisPoints:20};
  account transferFeeAmount 2 | 5:64 | withheldAmount=5;
  mint mintCloseAuthority 3 | @8 | closeAuthority=@8;
  mint confidentialTransferMint 4 | @8 1 32*0 | authority=@8 autoApproveNewAccounts=true
    auditorElgamalPubkey=null;
  account confidentialTransferAccount 5 | 1 32*2 64*3 64*4 64*5 36*6 1 0 7:64 65536:64 8:64 9:64 |
    approved=true elgamalPubkey=32*2 pendingBalanceLo=64*3 pendingBalanceHi=64*4 availableBalance=64*5
    decryptableAvailableBalance=36*6 allowConfidentialCredits=true allowNonConfidentialCredits=false
    pendingBalanceCreditCounter=7 maximumPendingBalanceCreditCounter=65536
    expectedPendingBalanceCreditCounter=8 actualPendingBalanceCreditCounter=9;
  mint defaultAccountState 6 | 2 | accountState="frozen";
  mint defaultAccountState 6 | 9 | accountState="uninitialized";
  account immutableOwner 7 | |;
  account memoTransfer 8 | 1 | requireIncomingTransferMemos=true;
  mint nonTransferable 9 | |;
  mint interestBearingConfig 10 | 32*0 -1:64 65520:16 3:64 400:16 | rateAuthority=null
    initializationTimestamp=-1 preUpdateAverageRate=-16 lastUpdateTimestamp=3 currentRate=400;
  account cpiGuard 11 | 0 | lockCpi=false;
  mint permanentDelegate 12 | @8 | delegate=@8;
  account nonTransferableAccount 13 | |;
  mint transferHook 14 | @8 @9 | authority=@8 programId=@9;
  account transferHookAccount 15 | 1 | transferring=true;
  mint confidentialTransferFeeConfig 16 | 32*0 32*0 1 64*3 | authority=null
    withdrawWithheldAuthorityElgamalPubkey=32*0 harvestToMintEnabled=true withheldAmount=64*3;
  account confidentialTransferFeeAmount 17 | 64*3 | withheldAmount=64*3;
  mint metadataPointer 18 | 32*0 @9 | authority=null metadataAddress=@9;
  mint tokenMetadata 19 | 32*0 @2 32'Größe' 32'GR' 32'' 1:32 32'colour' 32'red' |
    updateAuthority=null mint=@2
    name="Größe" symbol="GR" uri="" additionalMetadata=[["colour","red"]];
  mint groupPointer 20 | @8 32*0 | authority=@8 groupAddress=null;
  mint tokenGroup 21 | @8 @9 1:64 300:64 | updateAuthority=@8 mint=@9 size=1 maxSize=300;
  mint groupMemberPointer 22 | @8 @9 | authority=@8 memberAddress=@9;
  mint tokenGroupMember 23 | @8 @9 7:64 | mint=@8 group=@9 memberNumber=7;
  mint confidentialMintBurn 24 | 64*3 36*4 32*5 64*6 | confidentialSupply=64*3 decryptableSupply=36*4
    supplyElgamalPubkey=32*5 pendingBurn=64*6;
  mint scaledUiAmountConfig 25 | @8 1.5:f64 -9:64 1e-7:f64 | authority=@8 multiplier="1.5"
    newMultiplierEffectiveTimestamp=-9 newMultiplier="0.0000001";
  mint pausableConfig 26 | 32*0 1 | authority=null paused=true;
  account pausableAccount 27 | |;
  mint permissionedBurnConfig 28 | @8 | authority=@8;
`).map(([head = '', value = '', state = '']) => {
  const [on, extension = '', type] = head.split(' ');
  return {
    ...{ extension, type: Number(type), on: on as ExtensionRow['on'], value: bytesOf(value) },
    state: state === '' ? null : membersOf(state),
  };
});

function withExtensions(on: ExtensionRow['on'], ...entries: readonly ByteWriter[]): Uint8Array {
  const head = new Uint8Array(166);
  if (on === 'account') head[108] = 1;
  else head[45] = 1;
  head[165] = on === 'account' ? 2 : 1;
  return Buffer.concat([head, ...entries.map((entry) => entry.finish())]);
}

const entry = (type: number, value: Uint8Array): ByteWriter =>
  new ByteWriter().u16(type).u16(value.length).bytes(value);

/** Extensions in the parsed JSON; undefined when absent. */
const shown = (data: Uint8Array): JsonValue | undefined =>
  (shownAccount(programs.token2022, data) as { parsed: { info: Record<string, JsonValue> } }).parsed.info
    .extensions;

const other = (on: ExtensionRow['on']): ExtensionRow['on'] => (on === 'mint' ? 'account' : 'mint');
const unparseable = [{ extension: 'unparseableExtension' }];

describe('Token-2022 extensions', () => {
  it('all have a row', () => {
    const types = new Set(extensionRows.map(({ type }) => type));
    expect([...types]).toEqual(Array.from({ length: LAST_EXTENSION_TYPE }, (_, at) => at + 1));
  });

  it.each(extensionRows)('$extension matches its row (%#)', ({ extension, type, on, value, state }) => {
    expect(shown(withExtensions(on, entry(type, value)))).toEqual([
      state === null ? { extension } : { extension, state },
    ]);
  });

  it.each(extensionRows.filter(({ state }) => state))(
    '$extension is unparseable on the other account type or with another size (%#)',
    ({ extension, type, on, value }) => {
      expect(shown(withExtensions(other(on), entry(type, value)))).toEqual(unparseable);
      expect(shown(withExtensions(on, entry(type, value.subarray(1))))).toEqual(unparseable);
      const longer = shown(withExtensions(on, entry(type, Buffer.concat([value, fill(1, 0)]))));
      // Metadata may leave unused space.
      if (extension === 'tokenMetadata') expect(longer).toMatchObject([{ extension }]);
      else expect(longer).toEqual(unparseable);
    },
  );

  it.each(extensionRows.filter(({ state }) => !state))(
    '$extension is shown by its name only, also on the other account type',
    ({ extension, type, on }) => {
      expect(shown(withExtensions(other(on), entry(type, fill(3, 9))))).toEqual([{ extension }]);
    },
  );

  it('are read from the first of a type', () => {
    const twice = withExtensions('account', entry(8, fill(1, 1)), entry(8, fill(1, 0)));
    const first = { extension: 'memoTransfer', state: { requireIncomingTransferMemos: true } };
    expect(shown(twice)).toEqual([first, first]);
  });
});

import { createHash } from 'node:crypto';
import type { ByteWriter } from '../../../src/base/bytes.ts';
import { programs } from '../../../src/solana/programs.ts';
import { bytes, fill, k, key, type Row, type Rows, row, shortText } from './row.ts';

const none = fill(32, 0);
const ui = (amount: string, uiAmountString: string) => ({
  amount,
  decimals: 2,
  uiAmount: Number(uiAmountString),
  uiAmountString,
});

/** Both instructions of a pointer extension. */
const pointer = (extension: number, name: string, member: string): Row[] => [
  row(`initialize${name}`, bytes(extension, 0).bytes(key(8)).bytes(key(9)), 1, {
    mint: k(1),
    authority: k(8),
    [member]: k(9),
  }),
  row(`initialize${name}`, bytes(extension, 0).bytes(none).bytes(none), 1, { mint: k(1) }),
  row(`update${name}`, bytes(extension, 1).bytes(key(9)), 2, {
    mint: k(1),
    authority: k(2),
    [member]: k(9),
  }),
];

const named = (name: string): ByteWriter =>
  bytes(...createHash('sha256').update(name).digest().subarray(0, 8));
const metadata = (name: string): ByteWriter => named(`spl_token_metadata_interface:${name}`);
const group = (name: string): ByteWriter => named(`spl_token_group_interface:${name}`);

const fees = [
  row('initializeTransferFeeConfig', bytes(26, 0, 1).bytes(key(8)).u8(0).u16(50).u64(900n), 1, {
    mint: k(1),
    transferFeeConfigAuthority: k(8),
    transferFeeBasisPoints: 50,
    maximumFee: 900,
  }),
  row('transferCheckedWithFee', bytes(26, 1).u64(55n).u8(2).u64(5n), 4, {
    source: k(1),
    mint: k(2),
    destination: k(3),
    authority: k(4),
    tokenAmount: ui('55', '0.55'),
    feeAmount: ui('5', '0.05'),
  }),
  row('withdrawWithheldTokensFromMint', bytes(26, 2), 3, {
    mint: k(1),
    feeRecipient: k(2),
    withdrawWithheldAuthority: k(3),
  }),
  row(
    'withdrawWithheldTokensFromAccounts',
    bytes(26, 3, 2),
    6,
    {
      mint: k(1),
      feeRecipient: k(2),
      multisigWithdrawWithheldAuthority: k(3),
      signers: [k(4)],
      sourceAccounts: [k(5), k(6)],
    },
    5,
  ),
  row('harvestWithheldTokensToMint', bytes(26, 4), 3, { mint: k(1), sourceAccounts: [k(2), k(3)] }, 1),
  row(
    'setTransferFee',
    bytes(26, 5).u16(7).u64(8n),
    3,
    {
      mint: k(1),
      // Lower case, unlike other multisigs.
      multisigtransferFeeConfigAuthority: k(2),
      signers: [k(3)],
      transferFeeBasisPoints: 7,
      maximumFee: 8,
    },
    2,
  ),
];

const scaling = [
  row('initializeInterestBearingConfig', bytes(33, 0).bytes(none).u16(0xffff), 1, {
    mint: k(1),
    rateAuthority: null,
    rate: -1,
  }),
  row('updateInterestBearingConfigRate', bytes(33, 1).u16(300), 2, {
    mint: k(1),
    rateAuthority: k(2),
    newRate: 300,
  }),
  row('initializeScaledUiAmountConfig', bytes(43, 0).bytes(none).f64(1e21), 1, {
    mint: k(1),
    authority: null,
    multiplier: '1000000000000000000000',
  }),
  row('updateMultiplier', bytes(43, 1).f64(1e-7).i64(-77n), 2, {
    mint: k(1),
    authority: k(2),
    newMultiplier: '0.0000001',
    newMultiplierTimestamp: -77,
  }),
];

const metadataRows = [
  row(
    'initializeTokenMetadata',
    metadata('initialize_account').bytes(shortText('N')).bytes(shortText('S')).bytes(shortText('')),
    4,
    {
      metadata: k(1),
      updateAuthority: k(2),
      mint: k(3),
      mintAuthority: k(4),
      name: 'N',
      symbol: 'S',
      uri: '',
    },
  ),
  row('updateTokenMetadataField', metadata('updating_field').u8(1).bytes(shortText('X')), 2, {
    metadata: k(1),
    updateAuthority: k(2),
    field: 'symbol',
    value: 'X',
  }),
  row(
    'updateTokenMetadataField',
    metadata('updating_field').u8(3).bytes(shortText('colour')).bytes(shortText('red')),
    2,
    { metadata: k(1), updateAuthority: k(2), field: 'colour', value: 'red' },
  ),
  row('removeTokenMetadataKey', metadata('remove_key_ix').u8(1).bytes(shortText('colour')), 2, {
    metadata: k(1),
    updateAuthority: k(2),
    key: 'colour',
    idempotent: true,
  }),
  row('updateTokenMetadataAuthority', metadata('update_the_authority').bytes(none), 2, {
    metadata: k(1),
    updateAuthority: k(2),
    newAuthority: null,
  }),
  row('emitTokenMetadata', metadata('emitter').u8(1).u64(3n).u8(0), 1, { metadata: k(1), start: 3 }),
];

const groupRows = [
  row('initializeTokenGroup', group('initialize_token_group').bytes(none).u64(300n), 3, {
    group: k(1),
    mint: k(2),
    mintAuthority: k(3),
    updateAuthority: null,
    maxSize: 300,
  }),
  row('updateTokenGroupMaxSize', group('update_group_max_size').u64(5n), 2, {
    group: k(1),
    updateAuthority: k(2),
    maxSize: 5,
  }),
  row('updateTokenGroupAuthority', group('update_authority').bytes(key(9)), 2, {
    group: k(1),
    updateAuthority: k(2),
    newAuthority: k(9),
  }),
  row('initializeTokenGroupMember', group('initialize_member'), 5, {
    member: k(1),
    memberMint: k(2),
    memberMintAuthority: k(3),
    group: k(4),
    groupUpdateAuthority: k(5),
  }),
];

/** Source: spl-token-2022-interface, the metadata and group interfaces. */
export const token2022: Rows = {
  program: 'spl-token',
  programId: programs.token2022,
  rows: [
    row('initializeMintCloseAuthority', bytes(25, 1).bytes(key(9)), 1, { mint: k(1), newAuthority: k(9) }),
    ...fees,
    row('initializeDefaultAccountState', bytes(28, 0, 2), 1, { mint: k(1), accountState: 'frozen' }),
    row('updateDefaultAccountState', bytes(28, 1, 1), 2, {
      mint: k(1),
      freezeAuthority: k(2),
      accountState: 'initialized',
    }),
    row('reallocate', bytes(29, 8, 0, 28, 0), 4, {
      account: k(1),
      payer: k(2),
      systemProgram: k(3),
      owner: k(4),
      extensionTypes: ['memoTransfer', 'permissionedBurn'],
    }),
    row('enableRequiredMemoTransfers', bytes(30, 0), 2, { account: k(1), owner: k(2) }),
    row('disableRequiredMemoTransfers', bytes(30, 1), 2, { account: k(1), owner: k(2) }),
    row('createNativeMint', bytes(31), 3, { payer: k(1), nativeMint: k(2), systemProgram: k(3) }),
    row('initializeNonTransferableMint', bytes(32), 1, { mint: k(1) }),
    row('enableCpiGuard', bytes(34, 0), 2, { account: k(1), owner: k(2) }),
    row('disableCpiGuard', bytes(34, 1), 3, { account: k(1), multisigOwner: k(2), signers: [k(3)] }, 2),
    row('initializePermanentDelegate', bytes(35).bytes(key(9)), 1, { mint: k(1), delegate: k(9) }),
    ...scaling,
    ...pointer(36, 'TransferHook', 'programId'),
    ...pointer(39, 'MetadataPointer', 'metadataAddress'),
    ...pointer(40, 'GroupPointer', 'groupAddress'),
    ...pointer(41, 'GroupMemberPointer', 'memberAddress'),
    row('initializePausableConfig', bytes(44, 0).bytes(key(9)), 1, { mint: k(1), authority: k(9) }),
    row('pause', bytes(44, 1), 2, { mint: k(1), authority: k(2) }),
    row('resume', bytes(44, 2), 2, { mint: k(1), authority: k(2) }),
    ...metadataRows,
    ...groupRows,
  ],
};

import type { ByteWriter } from '../../../src/base/bytes.ts';
import { base64, bytes, fill, k, key, shortText } from './row.ts';

/** Extension bytes and their parsed state; no state when only the name is shown. */
export type ExtensionRow = Readonly<{
  extension: string;
  type: number;
  on: 'mint' | 'account';
  value: Uint8Array;
  state?: Readonly<Record<string, unknown>>;
}>;

const none = fill(32, 0);

const on =
  (kind: ExtensionRow['on']) =>
  (extension: string, type: number, value: ByteWriter, state?: ExtensionRow['state']): ExtensionRow => ({
    extension,
    type,
    on: kind,
    value: value.finish(),
    ...(state && { state }),
  });
const onMint = on('mint');
const onAccount = on('account');

const confidentialTransferAccount = onAccount(
  'confidentialTransferAccount',
  5,
  bytes(1)
    .bytes(fill(32, 2))
    .bytes(fill(64, 3))
    .bytes(fill(64, 4))
    .bytes(fill(64, 5))
    .bytes(fill(36, 6))
    .bytes(Uint8Array.of(1, 0))
    .u64(7n)
    .u64(65_536n)
    .u64(8n)
    .u64(9n),
  {
    approved: true,
    elgamalPubkey: base64(32, 2),
    pendingBalanceLo: base64(64, 3),
    pendingBalanceHi: base64(64, 4),
    availableBalance: base64(64, 5),
    decryptableAvailableBalance: base64(36, 6),
    allowConfidentialCredits: true,
    allowNonConfidentialCredits: false,
    pendingBalanceCreditCounter: 7,
    maximumPendingBalanceCreditCounter: 65_536,
    expectedPendingBalanceCreditCounter: 8,
    actualPendingBalanceCreditCounter: 9,
  },
);

const tokenMetadata = onMint(
  'tokenMetadata',
  19,
  bytes()
    .bytes(none)
    .bytes(key(2))
    .bytes(shortText('Größe'))
    .bytes(shortText('GR'))
    .bytes(shortText(''))
    .u32(1)
    .bytes(shortText('colour'))
    .bytes(shortText('red')),
  {
    updateAuthority: null,
    mint: k(2),
    name: 'Größe',
    symbol: 'GR',
    uri: '',
    additionalMetadata: [['colour', 'red']],
  },
);

/** Source: spl-token-2022-interface, `ExtensionType`, in its order. */
export const extensionRows: readonly ExtensionRow[] = [
  onMint(
    'transferFeeConfig',
    1,
    bytes()
      .bytes(key(8))
      .bytes(none)
      .u64(5n)
      .u64(1n)
      .u64(100n)
      .u16(10)
      .u64(2n)
      .u64(2n ** 64n - 1n)
      .u16(20),
    {
      transferFeeConfigAuthority: k(8),
      withdrawWithheldAuthority: null,
      withheldAmount: 5,
      olderTransferFee: { epoch: 1, maximumFee: 100, transferFeeBasisPoints: 10 },
      newerTransferFee: { epoch: 2, maximumFee: 2n ** 64n - 1n, transferFeeBasisPoints: 20 },
    },
  ),
  onAccount('transferFeeAmount', 2, bytes().u64(5n), { withheldAmount: 5 }),
  onMint('mintCloseAuthority', 3, bytes().bytes(key(8)), { closeAuthority: k(8) }),
  onMint('confidentialTransferMint', 4, bytes().bytes(key(8)).u8(1).bytes(none), {
    authority: k(8),
    autoApproveNewAccounts: true,
    auditorElgamalPubkey: null,
  }),
  confidentialTransferAccount,
  onMint('defaultAccountState', 6, bytes(2), { accountState: 'frozen' }),
  onMint('defaultAccountState', 6, bytes(9), { accountState: 'uninitialized' }),
  onAccount('immutableOwner', 7, bytes()),
  onAccount('memoTransfer', 8, bytes(1), { requireIncomingTransferMemos: true }),
  onMint('nonTransferable', 9, bytes()),
  onMint('interestBearingConfig', 10, bytes().bytes(none).i64(-1n).u16(0xfff0).i64(3n).u16(400), {
    rateAuthority: null,
    initializationTimestamp: -1,
    preUpdateAverageRate: -16,
    lastUpdateTimestamp: 3,
    currentRate: 400,
  }),
  onAccount('cpiGuard', 11, bytes(0), { lockCpi: false }),
  onMint('permanentDelegate', 12, bytes().bytes(key(8)), { delegate: k(8) }),
  onAccount('nonTransferableAccount', 13, bytes()),
  onMint('transferHook', 14, bytes().bytes(key(8)).bytes(key(9)), { authority: k(8), programId: k(9) }),
  onAccount('transferHookAccount', 15, bytes(1), { transferring: true }),
  onMint('confidentialTransferFeeConfig', 16, bytes().bytes(none).bytes(none).u8(1).bytes(fill(64, 3)), {
    authority: null,
    withdrawWithheldAuthorityElgamalPubkey: base64(32, 0),
    harvestToMintEnabled: true,
    withheldAmount: base64(64, 3),
  }),
  onAccount('confidentialTransferFeeAmount', 17, bytes().bytes(fill(64, 3)), {
    withheldAmount: base64(64, 3),
  }),
  onMint('metadataPointer', 18, bytes().bytes(none).bytes(key(9)), {
    authority: null,
    metadataAddress: k(9),
  }),
  tokenMetadata,
  onMint('groupPointer', 20, bytes().bytes(key(8)).bytes(none), { authority: k(8), groupAddress: null }),
  onMint('tokenGroup', 21, bytes().bytes(key(8)).bytes(key(9)).u64(1n).u64(300n), {
    updateAuthority: k(8),
    mint: k(9),
    size: 1,
    maxSize: 300,
  }),
  onMint('groupMemberPointer', 22, bytes().bytes(key(8)).bytes(key(9)), {
    authority: k(8),
    memberAddress: k(9),
  }),
  onMint('tokenGroupMember', 23, bytes().bytes(key(8)).bytes(key(9)).u64(7n), {
    mint: k(8),
    group: k(9),
    memberNumber: 7,
  }),
  onMint(
    'confidentialMintBurn',
    24,
    bytes().bytes(fill(64, 3)).bytes(fill(36, 4)).bytes(fill(32, 5)).bytes(fill(64, 6)),
    {
      confidentialSupply: base64(64, 3),
      decryptableSupply: base64(36, 4),
      supplyElgamalPubkey: base64(32, 5),
      pendingBurn: base64(64, 6),
    },
  ),
  onMint('scaledUiAmountConfig', 25, bytes().bytes(key(8)).f64(1.5).i64(-9n).f64(1e-7), {
    authority: k(8),
    multiplier: '1.5',
    newMultiplierEffectiveTimestamp: -9,
    newMultiplier: '0.0000001',
  }),
  onMint('pausableConfig', 26, bytes().bytes(none).u8(1), { authority: null, paused: true }),
  onAccount('pausableAccount', 27, bytes()),
  onMint('permissionedBurnConfig', 28, bytes().bytes(key(8)), { authority: k(8) }),
];

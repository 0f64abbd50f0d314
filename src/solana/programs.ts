import { type Address, address } from './address.ts';

/** Source: solana-sdk-ids, and the program library's declarations. */
export const programs = {
  system: address('11111111111111111111111111111111'),
  token: address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  token2022: address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
  ata: address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  memoV1: address('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'),
  memoV3: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
  memoV4: address('Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH'),
  stake: address('Stake11111111111111111111111111111111111111'),
  vote: address('Vote111111111111111111111111111111111111111'),
  addressLookupTable: address('AddressLookupTab1e1111111111111111111111111'),
  computeBudget: address('ComputeBudget111111111111111111111111111111'),
  config: address('Config1111111111111111111111111111111111111'),
  feature: address('Feature111111111111111111111111111111111111'),
  nativeLoader: address('NativeLoader1111111111111111111111111111111'),
  bpfLoader1: address('BPFLoader1111111111111111111111111111111111'),
  bpfLoader2: address('BPFLoader2111111111111111111111111111111111'),
  bpfUpgradeableLoader: address('BPFLoaderUpgradeab1e11111111111111111111111'),
  loaderV4: address('LoaderV411111111111111111111111111111111111'),
  ed25519: address('Ed25519SigVerify111111111111111111111111111'),
  secp256k1: address('KeccakSecp256k11111111111111111111111111111'),
  secp256r1: address('Secp256r1SigVerify1111111111111111111111111'),
  zkTokenProof: address('ZkTokenProof1111111111111111111111111111111'),
  zkElGamalProof: address('ZkE1Gama1Proof11111111111111111111111111111'),
} as const satisfies Record<string, Address>;

export const isTokenProgram = (owner: Address): boolean =>
  owner === programs.token || owner === programs.token2022;

export const sysvarOwner: Address = address('Sysvar1111111111111111111111111111111111111');

export const sysvars = {
  clock: address('SysvarC1ock11111111111111111111111111111111'),
  epochRewards: address('SysvarEpochRewards1111111111111111111111111'),
  epochSchedule: address('SysvarEpochSchedu1e111111111111111111111111'),
  fees: address('SysvarFees111111111111111111111111111111111'),
  instructions: address('Sysvar1nstructions1111111111111111111111111'),
  lastRestartSlot: address('SysvarLastRestartS1ot1111111111111111111111'),
  recentBlockhashes: address('SysvarRecentB1ockHashes11111111111111111111'),
  rent: address('SysvarRent111111111111111111111111111111111'),
  rewards: address('SysvarRewards111111111111111111111111111111'),
  slotHashes: address('SysvarS1otHashes111111111111111111111111111'),
  slotHistory: address('SysvarS1otHistory11111111111111111111111111'),
  stakeHistory: address('SysvarStakeHistory1111111111111111111111111'),
} as const satisfies Record<string, Address>;

/** Retired, but still reserved. */
export const stakeConfig: Address = address('StakeConfig11111111111111111111111111111111');

/** Mint of wrapped SOL in the Token program. */
export const nativeMint: Address = address('So11111111111111111111111111111111111111112');

/** Mint of wrapped SOL in Token-2022. */
export const nativeMint2022: Address = address('9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP');

/** Never write-locked, assuming all features are active. Source: agave reserved-account-keys, `RESERVED_ACCOUNTS`. */
export const reservedKeys: ReadonlySet<Address> = new Set<Address>([
  programs.addressLookupTable,
  programs.bpfLoader2,
  programs.bpfLoader1,
  programs.bpfUpgradeableLoader,
  programs.computeBudget,
  programs.config,
  programs.ed25519,
  programs.feature,
  programs.loaderV4,
  programs.secp256k1,
  programs.secp256r1,
  stakeConfig,
  programs.stake,
  programs.system,
  programs.vote,
  programs.zkElGamalProof,
  programs.zkTokenProof,
  programs.nativeLoader,
  sysvarOwner,
  ...Object.values(sysvars),
]);

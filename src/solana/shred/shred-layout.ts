/** u8. Source of all offsets: agave ledger, `shred.rs`. */
export const VARIANT_OFFSET = 0x40;
export const SLOT_OFFSET = 0x41;
/** u32, index among the slot's data shreds or code shreds. */
export const INDEX_OFFSET = 0x49;
export const VERSION_OFFSET = 0x4d;
/** u32, index of the first data shred in the set. */
export const FEC_SET_INDEX_OFFSET = 0x4f;

/** Length of the data shred headers, including the common header; the payload follows. */
export const DATA_HEADERS_BYTES = 88;
/** Distance to the parent in slots. */
export const DATA_PARENT_OFFSET = 0x53;
export const DATA_FLAGS_OFFSET = 0x55;
/** Flag: the shred ends an entry batch. */
export const DATA_COMPLETE = 0x40;
/** Flag: the shred ends a slot; includes `DATA_COMPLETE`. */
export const LAST_IN_SLOT = 0xc0;
export const REFERENCE_TICK_MASK = 0x3f;
/** Combined length of headers and payload. */
export const DATA_SIZE_OFFSET = 0x56;

/** Length of the code shred headers, including the common header; parity follows. */
const CODE_HEADERS_BYTES = 89;
export const NUM_DATA_OFFSET = 0x53;
export const NUM_CODE_OFFSET = 0x55;
export const POSITION_OFFSET = 0x57;

export const SIGNATURE_BYTES = 64;
export const MERKLE_ROOT_BYTES = 32;
/** A proof entry is a truncated node. */
export const PROOF_ENTRY_BYTES = 20;

/** Length of a code shred plus a repair nonce. */
export const SHRED_PACKET_MAX_BYTES = 1232;
export const CODE_SHRED_BYTES = 1228;
/** Shorter than a code shred, so that its erasure-coded part fits after a code shred's longer headers. */
export const DATA_SHRED_BYTES = CODE_SHRED_BYTES - CODE_HEADERS_BYTES + SIGNATURE_BYTES;
/** The last bytes of a legacy data shred are unused and not erasure-coded. */
const LEGACY_SHARD_BYTES = CODE_SHRED_BYTES - CODE_HEADERS_BYTES;

/** Maximum number of data and code shreds in a set, a limit of Reed-Solomon over bytes. */
export const FEC_SET_SHREDS_MAX = 256;
const PROOF_ENTRIES_MAX = 8;

/** Maximum number of data shreds, and of code shreds, in a slot. Source: agave, `MAX_DATA_SHREDS_PER_SLOT`. */
export const SHREDS_PER_SLOT_MAX = 32_768;

export const FEC_SET_DATA_SHREDS = 32;
export const FEC_SET_CODE_SHREDS = 32;
const FEC_SET_PROOF_ENTRIES = 6;

/**
 * Offsets and sizes in a shred, determined by its variant: the byte after the signature.
 *
 * ```text
 * signature 64 | common header | data or code header | body | chained root 32 | proof 20 × n | retransmitter 64
 *              |<------------ leaf of the Merkle tree ------------------------>|
 *              |<------- shard of a data shred ------------->|
 *                                                    |<-body->|  shard of a code shred
 * ```
 */
export type ShredLayout = Readonly<{
  variant: number;
  kind: 'data' | 'code';
  isLegacy: boolean;
  /** Contains the Merkle root of the previous set. */
  isChained: boolean;
  /** Has a retransmitter signature at the end. */
  isResigned: boolean;
  proofEntries: number;
  /** Length of the shred within the packet. */
  bytes: number;
  /** Start of the chained root. */
  bodyEnd: number;
  /** End of the Merkle leaf. */
  proofStart: number;
  /** Start of the erasure-coded part. */
  shardStart: number;
  shardEnd: number;
}>;

const LEGACY_DATA = 0xa5;
const LEGACY_CODE = 0x5a;

/** Keyed by the high four bits of the variant. */
const MERKLE_VARIANTS: Readonly<
  Record<number, readonly [ShredLayout['kind'], chained: boolean, resigned: boolean]>
> = {
  4: ['code', false, false],
  6: ['code', true, false],
  7: ['code', true, true],
  8: ['data', false, false],
  9: ['data', true, false],
  11: ['data', true, true],
};

function legacyLayout(variant: number, kind: ShredLayout['kind']): ShredLayout {
  const [shardStart, shardEnd] =
    kind === 'data' ? [0, LEGACY_SHARD_BYTES] : [CODE_HEADERS_BYTES, CODE_SHRED_BYTES];
  return {
    variant,
    kind,
    isLegacy: true,
    isChained: false,
    isResigned: false,
    proofEntries: 0,
    bytes: CODE_SHRED_BYTES,
    bodyEnd: shardEnd,
    proofStart: CODE_SHRED_BYTES,
    shardStart,
    shardEnd,
  };
}

function layoutOfVariant(variant: number): ShredLayout | null {
  if (variant === LEGACY_DATA) return legacyLayout(variant, 'data');
  if (variant === LEGACY_CODE) return legacyLayout(variant, 'code');
  const merkle = MERKLE_VARIANTS[variant >> 4];
  const proofEntries = variant & 0xf;
  if (merkle === undefined || proofEntries > PROOF_ENTRIES_MAX) return null;
  const [kind, isChained, isResigned] = merkle;
  const bytes = kind === 'data' ? DATA_SHRED_BYTES : CODE_SHRED_BYTES;
  const proofStart = bytes - (isResigned ? SIGNATURE_BYTES : 0) - proofEntries * PROOF_ENTRY_BYTES;
  const bodyEnd = proofStart - (isChained ? MERKLE_ROOT_BYTES : 0);
  const shardStart = kind === 'data' ? SIGNATURE_BYTES : CODE_HEADERS_BYTES;
  return {
    variant,
    kind,
    isLegacy: false,
    isChained,
    isResigned,
    proofEntries,
    bytes,
    bodyEnd,
    proofStart,
    shardStart,
    shardEnd: bodyEnd,
  };
}

const layouts: readonly (ShredLayout | null)[] = Array.from({ length: 256 }, (_, variant) =>
  layoutOfVariant(variant),
);

/** null for an unknown variant or an impossible proof length. */
export const shredLayout = (variant: number): ShredLayout | null => layouts[variant] ?? null;

/** Maps the high four bits of a data variant to those of its code variant, and back. */
const SIBLINGS: Readonly<Record<number, number>> = { 8: 4, 9: 6, 11: 7, 4: 8, 6: 9, 7: 11 };

export function siblingLayout({ variant, isLegacy, kind }: ShredLayout): ShredLayout {
  const merkle = ((SIBLINGS[variant >> 4] ?? 0) << 4) | (variant & 0xf);
  const legacy = kind === 'data' ? LEGACY_CODE : LEGACY_DATA;
  return layouts[isLegacy ? legacy : merkle] as ShredLayout;
}

/** Layout of a shred in a chained set of 32 data and 32 code shreds. */
export function chainedLayout(kind: ShredLayout['kind'], isResigned: boolean): ShredLayout {
  const high = kind === 'data' ? (isResigned ? 11 : 9) : isResigned ? 7 : 6;
  return layouts[(high << 4) | FEC_SET_PROOF_ENTRIES] as ShredLayout;
}

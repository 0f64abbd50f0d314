/** Where any shred has its variant: u8. Source of all offsets: agave ledger, `shred.rs`. */
export const VARIANT_OFFSET = 0x40;
/** Where any shred has its slot: u64. */
export const SLOT_OFFSET = 0x41;
/** Where any shred has its index among the data, or among the code shreds of its slot: u32. */
export const INDEX_OFFSET = 0x49;
/** Where any shred has the cluster's shred version: u16. */
export const VERSION_OFFSET = 0x4d;
/** Where any shred has the index of the first data shred of its set: u32. */
export const FEC_SET_INDEX_OFFSET = 0x4f;

/** Headers of a data shred, the common one among them; its payload follows. */
export const DATA_HEADERS_BYTES = 88;
/** Where a data shred says how many slots back the parent is: u16. */
export const DATA_PARENT_OFFSET = 0x53;
/** Where a data shred has its flags: u8. */
export const DATA_FLAGS_OFFSET = 0x55;
/** The flag of a shred that ends a batch of entries. */
export const DATA_COMPLETE = 0x40;
/** The flags of a shred that ends a slot, `DATA_COMPLETE` among them. */
export const LAST_IN_SLOT = 0xc0;
/** The bits of the flags that count ticks. */
export const REFERENCE_TICK_MASK = 0x3f;
/** Where a data shred says how far its payload reaches, headers included: u16. */
export const DATA_SIZE_OFFSET = 0x56;

/** Headers of a code shred, the common one among them; parity follows. */
export const CODE_HEADERS_BYTES = 89;
/** Where a code shred has the number of data shreds of its set: u16. */
export const NUM_DATA_OFFSET = 0x53;
/** Where a code shred has the number of code shreds of its set: u16. */
export const NUM_CODE_OFFSET = 0x55;
/** Where a code shred has its place among the code shreds of its set: u16. */
export const POSITION_OFFSET = 0x57;

/** The signature of the leader, with which a shred begins, and that of a retransmitter. */
export const SIGNATURE_BYTES = 64;
/** Root of a set's merkle tree, which the next set repeats. */
export const MERKLE_ROOT_BYTES = 32;
/** What a proof has of a node of the merkle tree. */
export const PROOF_ENTRY_BYTES = 20;

/** The longest packet: a code shred and the nonce that answers to repair carry. */
export const SHRED_PACKET_MAX_BYTES = 1232;
/** Length of a code shred. */
export const CODE_SHRED_BYTES = 1228;
/** A merkle data shred is shorter, so that what is erasure-coded fits into a code shred behind its longer headers. */
export const DATA_SHRED_BYTES = CODE_SHRED_BYTES - CODE_HEADERS_BYTES + SIGNATURE_BYTES;
/** Of a legacy data shred the last bytes hold nothing and are not erasure-coded. */
const LEGACY_SHARD_BYTES = CODE_SHRED_BYTES - CODE_HEADERS_BYTES;

/** Data and code shreds of one erasure batch ("FEC set") together; Reed-Solomon over bytes goes no further. */
export const FEC_SET_SHREDS_MAX = 256;
/** A tree of that many leaves has proofs of that many nodes. */
const PROOF_ENTRIES_MAX = 8;

/** Data shreds of a slot, and likewise code shreds. Source: agave, `MAX_DATA_SHREDS_PER_SLOT`. */
export const SHREDS_PER_SLOT_MAX = 32_768;

/** Data shreds of a set as leaders build every set today. Source: agave, `DATA_SHREDS_PER_FEC_BLOCK`. */
export const FEC_SET_DATA_SHREDS = 32;
/** Code shreds of such a set. Source: agave, `CODING_SHREDS_PER_FEC_BLOCK`. */
export const FEC_SET_CODE_SHREDS = 32;
/** Nodes of each merkle proof of such a set. */
export const FEC_SET_PROOF_ENTRIES = 6;

/**
 * Where things stand in a shred; all of it follows from the variant, the byte behind the signature.
 *
 * ```text
 * signature 64 | common header | data or code header | body | chained root 32 | proof 20 × n | retransmitter 64
 *              |<------------ leaf of the merkle tree ------------------------>|
 *              |<------- shard of a data shred ------------->|
 *                                                    |<-body->|  shard of a code shred
 * ```
 */
export type ShredLayout = Readonly<{
  variant: number;
  kind: 'data' | 'code';
  isLegacy: boolean;
  /** The merkle root of the set before stands in the shred. */
  isChained: boolean;
  /** Whoever passes the shred on signs it too, at its end. */
  isResigned: boolean;
  /** Nodes of its merkle proof; 0 for legacy shreds. */
  proofEntries: number;
  /** Length of the shred; what follows in a packet is no part of it. */
  bytes: number;
  /** End of the body, and start of the chained root. */
  bodyEnd: number;
  /** Start of the proof, and end of the leaf. */
  proofStart: number;
  /** The part that is erasure-coded, from here to `shardEnd`. */
  shardStart: number;
  shardEnd: number;
}>;

const LEGACY_DATA = 0xa5;
const LEGACY_CODE = 0x5a;

/** What the high four bits say of a merkle shred. */
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

/**
 * The layout that a variant stands for; null when there is none such, or when its proof would be of more shreds than
 * a set can have.
 */
export const shredLayout = (variant: number): ShredLayout | null => layouts[variant] ?? null;

/** High four bits of the variant, of data and code. */
const SIBLINGS: Readonly<Record<number, number>> = { 8: 4, 9: 6, 11: 7, 4: 8, 6: 9, 7: 11 };

/** The layout of the other shreds in the same set: of code for data, of data for code. */
export function siblingLayout({ variant, isLegacy, kind }: ShredLayout): ShredLayout {
  const merkle = ((SIBLINGS[variant >> 4] ?? 0) << 4) | (variant & 0xf);
  const legacy = kind === 'data' ? LEGACY_CODE : LEGACY_DATA;
  return layouts[isLegacy ? legacy : merkle] as ShredLayout;
}

/** The layout of merkle shreds in a chained set 32:32. */
export function chainedLayout(kind: ShredLayout['kind'], isResigned: boolean): ShredLayout {
  const high = kind === 'data' ? (isResigned ? 11 : 9) : isResigned ? 7 : 6;
  return layouts[(high << 4) | FEC_SET_PROOF_ENTRIES] as ShredLayout;
}

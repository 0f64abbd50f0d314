/** What the nodes of these benchmarks answer, as Agave writes it. Their slots go by the clock. */

export const SLOT_MS = 400;
const FIRST_SLOT = 300_000_000;
/** Source: mainnet-beta; a node that tells another belongs to another chain. */
const GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const BLOCKHASH = 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N';
const SLOTS_PER_EPOCH = 432_000;

/** The slot of now. */
export const slotNow = (): number => FIRST_SLOT + Math.floor(performance.now() / SLOT_MS);

const TOKEN_ACCOUNT_BYTES = 165;
/** Of the data of an account so long that the result is one megabyte and a little. */
const LONG_ACCOUNT_BYTES = 786_432;

const accountOf = (dataBytes: number): string =>
  JSON.stringify({
    data: [Buffer.alloc(dataBytes, 7).toString('base64'), 'base64'],
    executable: false,
    lamports: 2_039_280,
    owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    rentEpoch: 0,
    space: dataBytes,
  });

export const account = accountOf(TOKEN_ACCOUNT_BYTES);
export const longAccount = accountOf(LONG_ACCOUNT_BYTES);
/** Who asks for it gets the long one. */
export const LONG_ADDRESS = 'LongAccount11111111111111111111111111111111';

/** Raw JSON with the context that most results have. */
export const inContext = (slot: number, value: string): string =>
  `{"context":{"apiVersion":"3.0.0","slot":${slot}},"value":${value}}`;

/** Raw JSON of a result. */
export function resultOf(method: string, slot: number): string {
  switch (method) {
    case 'getSlot':
    case 'getBlockHeight':
    case 'getMaxShredInsertSlot':
    case 'getTransactionCount':
      return String(slot);
    case 'getHealth':
      return '"ok"';
    case 'getSlotLeader':
      return '"11111111111111111111111111111111"';
    case 'getGenesisHash':
      return `"${GENESIS_HASH}"`;
    case 'getFirstAvailableBlock':
      return '0';
    case 'getLatestBlockhash':
      return inContext(slot, `{"blockhash":"${BLOCKHASH}","lastValidBlockHeight":${slot + 150}}`);
    case 'getEpochInfo':
      return epochInfo(slot);
    default:
      return inContext(slot, account);
  }
}

const epochInfo = (slot: number): string =>
  JSON.stringify({
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / SLOTS_PER_EPOCH),
    slotIndex: slot % SLOTS_PER_EPOCH,
    slotsInEpoch: SLOTS_PER_EPOCH,
    transactionCount: slot,
  });

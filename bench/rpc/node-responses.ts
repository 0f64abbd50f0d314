/** Responses of the benchmark nodes, in Agave's format. Slots follow the clock. */

export const SLOT_MS = 400;
const FIRST_SLOT = 300_000_000;
/** Genesis hash of mainnet-beta. */
const GENESIS_HASH = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const BLOCKHASH = 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N';
const SLOTS_PER_EPOCH = 432_000;

export const slotNow = (): number => FIRST_SLOT + Math.floor(performance.now() / SLOT_MS);

const TOKEN_ACCOUNT_BYTES = 165;
/** Account size that gives a result of slightly more than 1 MiB. */
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
/** Address of the long account. */
export const LONG_ADDRESS = 'LongAccount11111111111111111111111111111111';

/** Raw JSON of a result with context. */
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

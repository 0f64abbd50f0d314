import { defaultUpkeepLimits } from '../localnet/bank/ledger-upkeep.ts';
import { SLOTS_PER_EPOCH_MAX as slotsPerEpochMax } from '../localnet/genesis/genesis.ts';

/** The longest epoch, for the ranges of options. */
export const SLOTS_PER_EPOCH_MAX = slotsPerEpochMax;

/** What the embedded ledger is when nothing else is said, alone and inside the service alike. */
export const localnetDefaults = {
  ledgerDir: 'test-ledger',
  host: '127.0.0.1',
  rpcPort: 8899,
  geyserPort: 10_000,
  slotMs: 400,
  slotsPerEpoch: 432_000,
  ticksPerSlot: 64,
  faucetSol: 1_000_000,
  shredLeadMs: 20,
  historySlotsMax: defaultUpkeepLimits.historySlotsMax,
} as const;

/** The farthest slot that a start may go on to: empty blocks are made for all before it, about 3,000 a second. */
export const WARP_SLOT_MAX = 1_000_000;

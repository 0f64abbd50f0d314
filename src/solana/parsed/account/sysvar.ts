import { Float64 } from '../../../base/json.ts';
import type { Address } from '../../address.ts';
import { sysvars } from '../../programs.ts';
import { decodeClock } from '../../sysvar/clock.ts';
import { decodeEpochRewards } from '../../sysvar/epoch-rewards.ts';
import { decodeEpochSchedule } from '../../sysvar/epoch-schedule.ts';
import { decodeFees } from '../../sysvar/fees.ts';
import { decodeLastRestartSlot } from '../../sysvar/last-restart-slot.ts';
import { decodeRecentBlockhashes } from '../../sysvar/recent-blockhashes.ts';
import { decodeRent } from '../../sysvar/rent.ts';
import { decodeRewards } from '../../sysvar/rewards.ts';
import { decodeSlotHashes } from '../../sysvar/slot-hashes.ts';
import { decodeSlotHistory } from '../../sysvar/slot-history.ts';
import { decodeStakeHistory } from '../../sysvar/stake-history.ts';
import type { AccountParts } from './parsed-account.ts';

type Info = NonNullable<AccountParts['info']>;
type Parse = (data: Uint8Array) => AccountParts | null;

/** A sysvar by the name of its type: what `decode` gives, as `show` shows it. */
function sysvar<T>(type: string, decode: (data: Uint8Array) => T | null, show: (value: T) => Info): Parse {
  return (data) => {
    const value = decode(data);
    return value === null ? null : { type, info: show(value) };
  };
}

const feeCalculator = (lamportsPerSignature: bigint) => ({
  lamportsPerSignature: String(lamportsPerSignature),
});

/** The eight bits of every byte, lowest first, as the digits that nodes write. */
const BIT_DIGITS = Array.from({ length: 256 }, (_, byte) =>
  [...byte.toString(2).padStart(8, '0')].reverse().join(''),
);

const digits = (bits: Uint8Array): string => Array.from(bits, (byte) => BIT_DIGITS[byte]).join('');

const perByte = (perByteYear: bigint, years: number): bigint =>
  Number.isInteger(years) ? perByteYear * BigInt(years) : perByteYear;

const parsers: ReadonlyMap<Address, Parse> = new Map([
  [sysvars.clock, sysvar('clock', decodeClock, (clock) => clock)],
  [sysvars.epochSchedule, sysvar('epochSchedule', decodeEpochSchedule, (schedule) => schedule)],
  [sysvars.fees, sysvar('fees', decodeFees, (fee) => ({ feeCalculator: feeCalculator(fee) }))],
  [
    sysvars.recentBlockhashes,
    sysvar('recentBlockhashes', decodeRecentBlockhashes, (entries) =>
      entries.map(({ blockhash, lamportsPerSignature }) => ({
        blockhash,
        feeCalculator: feeCalculator(lamportsPerSignature),
      })),
    ),
  ],
  [
    sysvars.rent,
    // One number since Agave 4.1: the old rate for a year times the years that make an account exempt.
    sysvar('rent', decodeRent, ({ lamportsPerByteYear, exemptionThreshold }) => ({
      lamportsPerByte: String(perByte(lamportsPerByteYear, exemptionThreshold)),
    })),
  ],
  [
    sysvars.rewards,
    sysvar('rewards', decodeRewards, (value) => ({ validatorPointValue: new Float64(value) })),
  ],
  [sysvars.slotHashes, sysvar('slotHashes', decodeSlotHashes, (entries) => entries)],
  [
    sysvars.slotHistory,
    sysvar('slotHistory', decodeSlotHistory, ({ bits, nextSlot }) => ({ bits: digits(bits), nextSlot })),
  ],
  [
    sysvars.stakeHistory,
    sysvar('stakeHistory', decodeStakeHistory, (entries) =>
      entries.map(({ epoch, ...stakeHistory }) => ({ epoch, stakeHistory })),
    ),
  ],
  [
    sysvars.lastRestartSlot,
    sysvar('lastRestartSlot', decodeLastRestartSlot, (lastRestartSlot) => ({ lastRestartSlot })),
  ],
  [
    sysvars.epochRewards,
    sysvar('epochRewards', decodeEpochRewards, (rewards) => ({
      ...rewards,
      totalPoints: String(rewards.totalPoints),
      totalRewards: String(rewards.totalRewards),
      distributedRewards: String(rewards.distributedRewards),
    })),
  ],
]);

/** A sysvar account, known by its address. Source: account-decoder/src/parse_sysvar.rs */
export function parseSysvar(data: Uint8Array, address: Address): AccountParts | null {
  return parsers.get(address)?.(data) ?? null;
}

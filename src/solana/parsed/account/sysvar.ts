import { Float64 } from '../../../base/json.ts';
import type { Address } from '../../address.ts';
import { sysvars } from '../../programs.ts';
import {
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeRewards,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
} from '../../sysvars.ts';
import type { AccountParts } from './parsed-account.ts';

type Info = NonNullable<AccountParts['info']>;
type Parse = (data: Uint8Array) => AccountParts | null;

function sysvar<T>(type: string, decode: (data: Uint8Array) => T | null, show: (value: T) => Info): Parse {
  return (data) => {
    const value = decode(data);
    return value === null ? null : { type, info: show(value) };
  };
}

const feeCalculator = (lamportsPerSignature: bigint) => ({
  lamportsPerSignature: String(lamportsPerSignature),
});

/** The bits of each byte as digits, lowest bit first. */
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
    // Since Agave 4.1, rent is shown as a single number: the yearly rate times the exemption threshold.
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

/** Source: account-decoder/src/parse_sysvar.rs */
export function parseSysvar(data: Uint8Array, address: Address): AccountParts | null {
  return parsers.get(address)?.(data) ?? null;
}

import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addressBytes } from '../../src/solana/address.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { createRandom, type Random, randomBytes } from '../fuzz/engine/mutate.ts';
import { readOptions } from '../programs/options.ts';
import { deshredding, generateSlot, TEST_SHRED_VERSION, testLeaderKey } from './deshred-rig.ts';
import { dropSome, shuffled } from './disorder.ts';
import { invalidSetGenerator, invalidShred } from './invalid-shreds.ts';

const USAGE = `Usage: npm run storm -- [--packets N] [--seed N]

Floods a deshredder with packets. Slots arrive one after the other, shuffled, with 28 of each 64 packets lost and some
duplicated, among sixty times as many packets that are forged (alone and in sets with a common signature), truncated,
random, of distant slots, of a leader that signs too early, and replayed.
Exits with 1 unless every batch of every slot is emitted once and nothing else, memory grows by at most 64 MiB after the
first report, and some shreds are dropped unverified.

  --packets N    (default 10000000)
  --seed N       (default 1)
`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const options = readOptions(USAGE, { packets: 10_000_000, seed: 1 });

const NOISE = 60;
const FIRST_SLOT = 1_000;
const REPLAYED_MAX = 4_096;
/** Maximum growth of used memory after garbage collection, since the first report. */
const GROWTH_MAX_MIB = 64;

/**
 * A fake clock advances with the packets, so that the load is the same on any machine: several times more invalid
 * signatures than are verified at most (`invalidSignaturesPerSecondMax`).
 */
const PACKETS_PER_MS = 20;
const wallClock = performance.now.bind(performance);
let packetsPushed = 0;
performance.now = () => packetsPushed / PACKETS_PER_MS;

/** The leader of every fourth slot, which signs too early. */
const early = Keypair.fromSeed(new Uint8Array(32).fill(4));
const earlyKey = addressBytes(early.address);
const hasEarlyLeader = (slot: number): boolean => slot % 4 === 3;
const hasUnknownLeader = (slot: number): boolean => slot % 16 === 14;

const random = createRandom(options.seed);
const packetsMax = options.packets;
const rig = deshredding({
  leaderOf: (slot) => {
    if (slot > 0xffff_ffffn || hasUnknownLeader(Number(slot))) return null;
    return hasEarlyLeader(Number(slot)) ? earlyKey : testLeaderKey;
  },
  shredVersion: () => TEST_SHRED_VERSION,
  unknownLeader: 'hold',
});

const replayed: Uint8Array[] = [];

function farSlot(packet: Uint8Array, from: Random): Uint8Array {
  const far = Uint8Array.from(packet);
  new DataView(far.buffer).setBigUint64(0x41, BigInt(from()) * BigInt(from() & 0xff), true);
  return far;
}

function later(packet: Uint8Array, slots: number): Uint8Array {
  const copy = Uint8Array.from(packet);
  const view = new DataView(copy.buffer);
  view.setBigUint64(0x41, view.getBigUint64(0x41, true) + BigInt(slots), true);
  return copy;
}

const nextSlot = (packet: Uint8Array, from: Random): Uint8Array => later(packet, 1 + (from() % 16));

function forged(packet: Uint8Array, from: Random): Uint8Array {
  const copy = Uint8Array.from(packet);
  // Changes a byte of the signed part or of the signature.
  const at = from() % 1_100;
  copy[at] = (copy[at] as number) ^ (1 + (from() % 255));
  return copy;
}

let forge: (shreds: number) => Uint8Array[] = () => [];
let forgedSet: Uint8Array[] = [];

function ofForgedSet(packet: Uint8Array, from: Random): Uint8Array {
  if (forgedSet.length === 0) forgedSet = forge(1 + (from() % 4));
  return forgedSet.pop() ?? packet;
}

const noises: readonly ((packet: Uint8Array, from: Random) => Uint8Array)[] = [
  forged,
  invalidShred,
  (packet, from) => nextSlot(invalidShred(packet, from), from),
  ofForgedSet,
  ofForgedSet,
  (packet, from) => forged(forged(packet, from), from),
  (packet, from) => packet.subarray(0, from() % packet.length),
  (_, from) => randomBytes(from, from() % 64),
  nextSlot,
  farSlot,
  (packet, from) => replayed[from() % Math.max(1, replayed.length)] ?? packet,
  (packet) => packet,
  (packet, from) => replayed[from() % Math.max(1, replayed.length)] ?? packet,
];

function remember(packet: Uint8Array): void {
  if (replayed.length < REPLAYED_MAX) replayed.push(packet);
  else replayed[random() % REPLAYED_MAX] = packet;
}

function push(packet: Uint8Array): void {
  packetsPushed++;
  rig.deshredder.push(packet);
}

const textOf = (entries: Uint8Array): string => Buffer.from(entries).toString('latin1');

let emittedBatches = 0;
let wrong = 0;
let slots = 0;
let earlyPackets: readonly Uint8Array[] = [];
/** Batches of the early leader by slot, until they are emitted. They are valid. */
const earlyBatches = new Map<bigint, string>();
const earlyMade = new Set<number>();

function signEarly(slot: number): void {
  const { batches, packets } = generateSlot(slot, [3_000], early);
  earlyPackets = [...earlyPackets, ...packets.slice(0, 20)].slice(-400);
  if (!earlyMade.has(slot)) earlyBatches.set(BigInt(slot), textOf(batches[0] as Uint8Array));
  earlyMade.add(slot);
}

function isEarlyBatch(slot: bigint, entries: Uint8Array): boolean {
  return earlyBatches.get(slot) === textOf(entries) && earlyBatches.delete(slot);
}

function storm(slot: number): void {
  const { batches, packets } = generateSlot(slot, [1_000 + (random() % 30_000), 200]);
  const expected = new Set(batches.map(textOf));
  const ahead = random() % 4;
  forge = invalidSetGenerator(
    packets.map((packet) => later(packet, ahead)),
    random,
  );
  const left = shuffled(dropSome(packets, 64, 28, random), random);
  for (const packet of left) {
    for (let i = 0; i < NOISE; i++) {
      const noise = noises[random() % noises.length] as (typeof noises)[number];
      push(noise(packets[random() % packets.length] as Uint8Array, random));
    }
    push(earlyPackets[random() % Math.max(1, earlyPackets.length)] ?? packet);
    push(packet);
    remember(packet);
  }
  for (const { entries, slot: of } of rig.batches.splice(0)) {
    if (isEarlyBatch(of, entries)) continue;
    if (of !== BigInt(slot) || !expected.delete(textOf(entries))) wrong++;
    else emittedBatches++;
  }
  wrong += expected.size;
  rig.slots.length = 0;
  slots++;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;

/** @returns used bytes. */
function report(startedAt: number): number {
  collectGarbage();
  const { packets } = rig.deshredder.stats;
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const seconds = (wallClock() - startedAt) / 1_000;
  const { bytes, pendingBytes, unverifiedBytes, openSlots, slots: known } = rig.deshredder.usage;
  console.log(
    `${packets} packets, ${(packets / seconds).toFixed(0)}/s; rss ${megabytes(rss)}, heap ${megabytes(heapUsed)}, ` +
      `buffers ${megabytes(arrayBuffers)}; holds ${megabytes(bytes)} and ${megabytes(pendingBytes + unverifiedBytes)} unverified, ` +
      `${openSlots} open of ${known} slots; ${slots} slots, ${emittedBatches} batches, ${wrong} wrong`,
  );
  return heapUsed + arrayBuffers;
}

const startedAt = wallClock();
let nextReport = packetsMax / 20;
let usedAtFirst: number | null = null;
let usedAtMost = 0;

function measure(): void {
  const used = report(startedAt);
  usedAtFirst ??= used;
  usedAtMost = Math.max(usedAtMost, used);
}

for (let slot = FIRST_SLOT; rig.deshredder.stats.packets < packetsMax; slot++) {
  if (slot % 16 === 0) signEarly(slot + 3 + 4 * (random() % 40));
  if (!hasEarlyLeader(slot) && !hasUnknownLeader(slot)) storm(slot);
  await turn();
  if (rig.deshredder.stats.packets < nextReport) continue;
  measure();
  nextReport += packetsMax / 20;
}
measure();
console.log(rig.deshredder.stats);
const grownMib = (usedAtMost - (usedAtFirst ?? 0)) / 1024 / 1024;
console.log(`memory growth: ${grownMib.toFixed(0)} MiB, limit: ${GROWTH_MAX_MIB} MiB`);
const { unverified } = rig.deshredder.stats.drops;
if (unverified === 0) console.log('no shred was dropped unverified: the load was too low');
process.exitCode = wrong === 0 && grownMib <= GROWTH_MAX_MIB && unverified > 0 ? 0 : 1;

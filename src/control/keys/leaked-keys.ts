import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Transaction } from 'kysely';
import { redact } from '../../base/log.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import {
  auditEntry,
  beforeAndAfter,
  findByText,
  type KeyRegister,
  type KeyView,
  requireKey,
  viewKey,
} from './key-register.ts';

/** Header with the signature of a report, base64 of DER. */
export const SIGNATURE_HEADER = 'github-public-key-signature';
/** Header that names the key it was made with. */
export const SIGNATURE_KEY_HEADER = 'github-public-key-identifier';

/** A public key of a secret scanner, as the configuration gives it. */
export type ScannerKey = Readonly<{
  id: string;
  /** P-256, SPKI in PEM. */
  pem: string;
}>;

/** DER of two numbers of 32 bytes has 72 at most; base64 of that 96. */
const SIGNATURE_LENGTH_MAX = 128;

/** The key of a PEM text; null where it is none, or none of P-256. */
export function readScannerKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: pem, format: 'pem' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/**
 * Who may report leaked secrets: whoever signs the bytes of the report with ECDSA P-256 and SHA-256 under one of these
 * keys, as GitHub does. Source: GitHub's secret scanning partner program.
 */
export class ScannerSignatures {
  readonly #keys: ReadonlyMap<string, KeyObject>;

  /** @param keys - one that cannot be read signs nothing; the configuration refuses such. */
  constructor(keys: readonly ScannerKey[]) {
    const read = keys.map(({ id, pem }) => [id, readScannerKey(pem)] as const);
    this.#keys = new Map(read.filter((entry): entry is [string, KeyObject] => entry[1] !== null));
  }

  /** Whether the bytes were signed by a scanner that is known. */
  verify(body: Uint8Array | null, keyId: string | null, signature: string | null): boolean {
    const key = keyId === null ? undefined : this.#keys.get(keyId);
    if (key === undefined || body === null || signature === null) return false;
    if (signature.length > SIGNATURE_LENGTH_MAX) return false;
    try {
      return verify('sha256', body, key, Buffer.from(signature, 'base64'));
    } catch {
      return false;
    }
  }
}

/** A secret that was found somewhere, as scanners report it. */
type LeakReport = Readonly<{
  token: string;
  /** What the scanner calls this kind of secret. */
  type: string;
  /** Where it was found. */
  url?: string | undefined;
  source?: string | undefined;
}>;

/** A key of ours that stands where others can read it. */
export type LeakedKey = Readonly<{
  key: KeyView;
  /** Where it was found, as far as the report says. */
  url: string | null;
  /** Whether it has been revoked for it. */
  revoked: boolean;
}>;

/** Notes whom to tell, in the transaction that marks the key: what is marked is told, whatever happens then. */
type NoteLeak = (trx: Transaction<Schema>, leak: LeakedKey, nowMs: number) => Promise<void>;

/** What holds of reports. */
type LeakRules = Readonly<{
  /** `keys.revoke_leaked` of the configuration. */
  revokes: boolean;
  noteLeak: NoteLeak;
}>;

/** What is answered to a report; the secret comes back as its SHA-256 only. */
type LeakReportResult = Readonly<{
  token_hash: string;
  token_type: string;
  label: 'true_positive' | 'false_positive';
}>;

const URL_LENGTH_MAX = 300;

const truncate = (text: string | undefined): string | null =>
  text === undefined ? null : redact(text).slice(0, URL_LENGTH_MAX);

/** Marks a living key as leaked, once, revokes it where that is wanted, and notes whom to tell. */
function markLeaked(
  register: KeyRegister,
  id: string,
  report: LeakReport,
  { revokes, noteLeak }: LeakRules,
): Promise<void> {
  return transactAndNotify(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const row = await requireKey(trx, id, register);
    const revokesNow = revokes && row.state !== 'revoked';
    if (row.state === 'revoked' || (row.leaked_at !== null && !revokesNow)) return;
    const change: Pick<KeyTable, 'state' | 'leaked_at'> = {
      state: revokesNow ? 'revoked' : row.state,
      leaked_at: row.leaked_at ?? register.now(),
    };
    await trx
      .updateTable('api_key')
      .set({ ...change, version })
      .where('id', '=', id)
      .execute();
    const url = truncate(report.url);
    const detail = {
      url,
      source: truncate(report.source),
      type: truncate(report.type),
      ...beforeAndAfter({ state: row.state }, { state: change.state }),
    };
    await writeAudit(trx, version, auditEntry(register, 'key.leak-report', row, detail));
    const now = register.now();
    const key = viewKey({ ...row, ...change, version }, now);
    await noteLeak(trx, { key, url, revoked: revokesNow }, now);
  });
}

/**
 * Takes reports of secrets that were found: marks the living keys among them, and revokes them where that is wanted.
 * @returns a verdict for each report.
 */
export async function reportLeaks(
  register: KeyRegister,
  reports: readonly LeakReport[],
  rules: LeakRules,
): Promise<LeakReportResult[]> {
  const results: LeakReportResult[] = [];
  for (const report of reports) {
    const row = await findByText(register, report.token.trim());
    if (row !== null) await markLeaked(register, row.id, report, rules);
    results.push({
      token_hash: createHash('sha256').update(report.token).digest('hex'),
      token_type: report.type,
      label: row === null ? 'false_positive' : 'true_positive',
    });
  }
  return results;
}

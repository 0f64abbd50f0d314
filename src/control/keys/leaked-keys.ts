import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Transaction } from 'kysely';
import { redact } from '../../base/log.ts';
import type { ParsedRouteInput, RouteOutput } from '../api/contract/contract.ts';
import { updateRows } from '../database/rows.ts';
import type { KeyTable, Schema } from '../database/schema.ts';
import { makeChange, writeAudit } from '../database/transaction.ts';
import {
  auditEntry,
  beforeAndAfter,
  findByText,
  type KeyRegister,
  type KeyView,
  requireKey,
  viewKey,
} from './key-register.ts';

export const SIGNATURE_HEADER = 'github-public-key-signature';
export const SIGNATURE_KEY_HEADER = 'github-public-key-identifier';

export type ScannerKey = Readonly<{
  id: string;
  /** P-256 public key as SPKI PEM. */
  pem: string;
}>;

/** A DER-encoded P-256 signature is at most 72 bytes, or 96 characters in base64. */
const SIGNATURE_LENGTH_MAX = 128;

/** Returns null unless the text is a P-256 public key. */
export function readScannerKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: pem, format: 'pem' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/** Verifies signatures of leak reports. Source: GitHub, "Secret scanning partner program". */
export function reportVerifier(scannerKeys: readonly ScannerKey[]) {
  const keys = new Map(scannerKeys.map(({ id, pem }) => [id, readScannerKey(pem)]));
  return (body: Uint8Array | null, keyId: string | null, signature: string | null): boolean => {
    const key = keys.get(keyId ?? '') ?? null;
    if (key === null || body === null || signature === null) return false;
    if (signature.length > SIGNATURE_LENGTH_MAX) return false;
    try {
      return verify('sha256', body, key, Buffer.from(signature, 'base64'));
    } catch {
      return false;
    }
  };
}

type LeakReport = ParsedRouteInput<'POST /secret-scanning'>['body'][number];

export type LeakedKey = Readonly<{ key: KeyView; url: string | null; revoked: boolean }>;

type LeakRules = Readonly<{
  /** The configuration option `keys.revoke_leaked`. */
  revokes: boolean;
  /** Queues the notification in the transaction that marks the key, so that either both happen or neither does. */
  noteLeak: (trx: Transaction<Schema>, leak: LeakedKey, nowMs: number) => Promise<void>;
}>;

const URL_LENGTH_MAX = 300;

const truncate = (text: string | undefined): string | null =>
  text === undefined ? null : redact(text).slice(0, URL_LENGTH_MAX);

function markLeaked(
  register: KeyRegister,
  id: string,
  report: LeakReport,
  { revokes, noteLeak }: LeakRules,
): Promise<void> {
  return makeChange(register.store, async (trx, version) => {
    const row = await requireKey(trx, id, register);
    const revokesNow = revokes && row.state !== 'revoked';
    if (row.state === 'revoked' || (row.leaked_at !== null && !revokesNow)) return;
    const change: Pick<KeyTable, 'state' | 'leaked_at'> = {
      state: revokesNow ? 'revoked' : row.state,
      leaked_at: row.leaked_at ?? register.now(),
    };
    await updateRows(trx, 'api_key', { id }, { ...change, version });
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

/** Marks reported keys that are not yet revoked as leaked, and revokes them if configured. */
export async function reportLeaks(
  register: KeyRegister,
  reports: readonly LeakReport[],
  rules: LeakRules,
): Promise<RouteOutput<'POST /secret-scanning'>> {
  const results: RouteOutput<'POST /secret-scanning'> = [];
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

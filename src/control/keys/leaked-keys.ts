import { createHash } from 'node:crypto';
import { redact } from '../../base/log.ts';
import { inChange, nextVersion, writeAudit } from '../database/change.ts';
import type { KeyTable } from '../database/schema.ts';
import { auditEntry, beforeAndAfter, type KeyRegister, requireKey } from './key-register.ts';
import { type KeyView, viewKey } from './key-view.ts';
import { findByText } from './whose-key.ts';

/** A secret that was found somewhere, as scanners report it. */
export type LeakReport = Readonly<{
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

/** What is answered to a report; the secret comes back as its SHA-256 only. */
export type LeakVerdict = Readonly<{
  token_hash: string;
  token_type: string;
  label: 'true_positive' | 'false_positive';
}>;

const URL_KEPT_MAX = 300;

const kept = (text: string | undefined): string | null =>
  text === undefined ? null : redact(text).slice(0, URL_KEPT_MAX);

/**
 * Marks a living key as leaked, once, and revokes it where that is wanted.
 * @returns null where nothing was left to be done.
 */
function markLeaked(
  register: KeyRegister,
  id: string,
  report: LeakReport,
  revokes: boolean,
): Promise<LeakedKey | null> {
  return inChange(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const row = await requireKey(trx, id, register);
    const revokesNow = revokes && row.state !== 'revoked';
    if (row.state === 'revoked' || (row.leaked_at !== null && !revokesNow)) return null;
    const change: Pick<KeyTable, 'state' | 'leaked_at'> = {
      state: revokesNow ? 'revoked' : row.state,
      leaked_at: row.leaked_at ?? register.now(),
    };
    await trx
      .updateTable('api_key')
      .set({ ...change, version })
      .where('id', '=', id)
      .execute();
    const url = kept(report.url);
    const detail = {
      url,
      source: kept(report.source),
      type: kept(report.type),
      ...beforeAndAfter({ state: row.state }, { state: change.state }),
    };
    await writeAudit(trx, version, auditEntry(register, 'key.leak-report', row, detail));
    return { key: viewKey({ ...row, ...change, version }, register.now()), url, revoked: revokesNow };
  });
}

export type LeakReports = Readonly<{ verdicts: LeakVerdict[]; leaked: LeakedKey[] }>;

/**
 * Takes reports of secrets that were found: marks the living keys among them, and revokes them where that is wanted.
 * @param revokes - `keys.revoke_leaked` of the configuration.
 * @returns a verdict for each report, and the keys for which somebody is to be told now.
 */
export async function reportLeaks(
  register: KeyRegister,
  reports: readonly LeakReport[],
  revokes: boolean,
): Promise<LeakReports> {
  const verdicts: LeakVerdict[] = [];
  const leaked: LeakedKey[] = [];
  for (const report of reports) {
    const row = await findByText(register, report.token.trim());
    const marked = row === null ? null : await markLeaked(register, row.id, report, revokes);
    if (marked !== null) leaked.push(marked);
    verdicts.push({
      token_hash: createHash('sha256').update(report.token).digest('hex'),
      token_type: report.type,
      label: row === null ? 'false_positive' : 'true_positive',
    });
  }
  return { verdicts, leaked };
}

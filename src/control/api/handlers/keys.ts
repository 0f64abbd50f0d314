import { setTimeout as delay } from 'node:timers/promises';
import { Lru } from '../../../base/cache/lru.ts';
import { findRow } from '../../database/rows.ts';
import type { Store } from '../../database/store.ts';
import {
  changeKey,
  cutOverlap,
  disableKey,
  enableKey,
  issuePlaygroundToken,
  type RecentTokens,
  revokeKey,
  revokeKeys,
  rotateKey,
} from '../../keys/change-key.ts';
import { createKey } from '../../keys/create-key.ts';
import { findKeyOwner, type KeyRegister, listKeyPage, readFamily } from '../../keys/key-register.ts';
import {
  reportLeaks,
  reportVerifier,
  SIGNATURE_HEADER,
  SIGNATURE_KEY_HEADER,
} from '../../keys/leaked-keys.ts';
import { enqueueLeak } from '../../notifications/delivery-queue.ts';
import { axisOver, monthRange, readSums, readWholeSums, stepMs } from '../../usage/read-usage.ts';
import { forbidden, unauthorized, unknownNetwork } from '../api-error.ts';
import type { KeyJson } from '../contract/keys.ts';
import { type ApiContext, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

const HOURS = 24;

const idle = () => ({ creditsUsed: 0, requests24h: Array<number>(HOURS).fill(0), errors24h: 0 });

async function activityOf(store: Store, keyIds: readonly string[], now: number) {
  const activity = new Map(keyIds.map((id) => [id, idle()]));
  if (keyIds.length === 0) return activity;
  const filter = { customerId: '', keys: keyIds };
  const hours = axisOver('hour', (Math.floor(now / stepMs.hour) - HOURS + 1) * stepMs.hour, now + 1);
  await readSums(store, { axis: hours, filter }, ['key_id', 'status'], ({ key_id, at, status, requests }) => {
    const one = activity.get(key_id)!;
    one.requests24h[at] = (one.requests24h[at] ?? 0) + requests;
    if (status !== 'ok') one.errors24h += requests;
  });
  const month = axisOver('day', monthRange(now).from, now + 1);
  await readWholeSums(store, { axis: month, filter }, ['key_id'], ({ key_id, credits }) => {
    activity.get(key_id)!.creditsUsed += credits;
  });
  return activity;
}

/** Plan for testing the handling of limits. Every customer may choose this plan. */
const REHEARSAL_PLAN_ID = 'rehearsal';

function keyRegisterFor(
  { store, peppers, now, keys }: ApiServices,
  { actor, address, userAgent, requestId, caller }: ApiContext,
  customerId?: string,
): KeyRegister {
  return {
    store,
    peppers,
    now,
    actor,
    keysMax: keys.keysMax,
    customerKeysMax: keys.customerKeysMax,
    ...(caller.kind !== 'local' && { origin: { address, userAgent, requestId } }),
    ...(customerId !== undefined && { customerId }),
  };
}

async function checkPlanChoice(
  { store }: ApiServices,
  { role }: ApiContext,
  customerId: string,
  planId: string | undefined,
): Promise<void> {
  if (role === 'operator' || planId === undefined || planId === REHEARSAL_PLAN_ID) return;
  if ((await findRow(store.db, 'customer', { id: customerId }))?.plan_id === planId) return;
  const message = `planId: only the operator can give a key another plan than the customer's or "${REHEARSAL_PLAN_ID}"`;
  throw forbidden('FORBIDDEN', message, { fields: { planId: message } });
}

/** @param id - the key to change: its networks stay valid when the configuration no longer lists them. */
async function checkNetworks(
  { service }: ApiServices,
  networks: readonly string[] | null | undefined,
  register: KeyRegister,
  id: string | null,
): Promise<void> {
  const known = service().networks;
  const unlisted = (networks ?? []).filter((network) => !known.includes(network));
  if (unlisted.length === 0) return;
  const before = id === null ? null : (await readFamily(register, id)).key.networks;
  if (!unlisted.every((network) => before?.some((name) => name === network)))
    throw unknownNetwork('networks', known);
}

/** Maximum wait for this gateway to apply a change. Then it responds anyway: the secret of a new key is not stored. */
const REFRESH_MAX_MS = 1_500;

export function keyHandlers(services: ApiServices) {
  const recentTokens: RecentTokens = new Lru(1_000);
  const isSigned = reportVerifier(services.keys.scannerKeys);
  const applyChange = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work;
    const timeoutAbort = new AbortController();
    const refreshTimeout = delay(REFRESH_MAX_MS, null, { signal: timeoutAbort.signal }).catch(() => null);
    await Promise.race([services.refreshKeys?.(), refreshTimeout]);
    timeoutAbort.abort();
    return result;
  };
  type KeyInput = Readonly<{ path: Readonly<{ customer: string; key: string }> }>;
  const applyTo =
    (change: (register: KeyRegister, id: string) => Promise<KeyJson>) =>
    ({ path }: KeyInput, context: ApiContext) =>
      applyChange(change(keyRegisterFor(services, context, path.customer), path.key));
  return defineHandlers({
    async 'GET /customers/{customer}/keys'({ path, query }, context) {
      const register = keyRegisterFor(services, context, path.customer);
      const { keys, next } = await listKeyPage(register, query);
      const ids = keys.map(({ id }) => id);
      const activity = await activityOf(services.store, ids, services.now());
      return { items: keys.map((key) => ({ ...key, ...activity.get(key.id)! })), next };
    },
    async 'POST /customers/{customer}/keys'({ path, body }, context) {
      await checkPlanChoice(services, context, path.customer, body.planId);
      const register = keyRegisterFor(services, context, path.customer);
      await checkNetworks(services, body.networks, register, null);
      return applyChange(createKey(register, body));
    },
    'GET /customers/{customer}/keys/{key}': ({ path }, context) =>
      readFamily(keyRegisterFor(services, context, path.customer), path.key),
    async 'PATCH /customers/{customer}/keys/{key}'({ path, body }, context) {
      const register = keyRegisterFor(services, context, path.customer);
      await checkNetworks(services, body.networks, register, path.key);
      return applyChange(changeKey(register, path.key, body));
    },
    'POST /customers/{customer}/keys/{key}/rotate'({ path, body }, context) {
      const overlapMs = body.overlapMs ?? services.keys.overlapHours * stepMs.hour;
      return applyChange(rotateKey(keyRegisterFor(services, context, path.customer), path.key, overlapMs));
    },
    async 'POST /customers/{customer}/keys/{key}/playground-token'({ path }, context) {
      const { caller } = context;
      if (caller.kind !== 'user' || !caller.hasSession)
        throw forbidden(
          'SESSION_ONLY',
          'Only signed-in users can request a playground token. Use the API key instead.',
        );
      return issuePlaygroundToken(keyRegisterFor(services, context, path.customer), path.key, recentTokens);
    },
    'POST /customers/{customer}/keys/{key}/cut': applyTo(cutOverlap),
    'POST /customers/{customer}/keys/{key}/disable': applyTo(disableKey),
    'POST /customers/{customer}/keys/{key}/enable': applyTo(enableKey),
    'POST /customers/{customer}/keys/{key}/revoke': applyTo(revokeKey),
    async 'POST /customers/{customer}/keys/revoke'({ path, body }, context) {
      const register = keyRegisterFor(services, context, path.customer);
      return { keys: await applyChange(revokeKeys(register, body.ids)) };
    },
    'POST /keys/whose': ({ body }, context) => findKeyOwner(keyRegisterFor(services, context), body.text),
    'POST /secret-scanning'({ body }, context) {
      const { rawBody, header } = context;
      if (!isSigned(rawBody, header(SIGNATURE_KEY_HEADER), header(SIGNATURE_HEADER)))
        throw unauthorized(
          'WRONG_SIGNATURE',
          'Sign the report with a key of this service: see keys.scanner_keys',
        );
      const register = { ...keyRegisterFor(services, context), actor: 'secret-scanning' };
      return reportLeaks(register, body, { revokes: services.keys.revokeLeaked, noteLeak: enqueueLeak });
    },
  });
}

import { hostname } from 'node:os';
import { createLogger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import { linkIdentity, unlinkIdentity } from '../../control/accounts/link-identity.ts';
import {
  inviteFirstOperator,
  inviteOperator,
  listOperators,
  type OperatorContext,
  removeOperator,
} from '../../control/accounts/operators.ts';
import { openSignInLibrary } from '../../control/accounts/sign-in-library.ts';
import { ApiError } from '../../control/api/api-error.ts';
import { email as emailSchema } from '../../control/api/contract/values.ts';
import type { Store } from '../../control/database/store.ts';
import type { Peppers } from '../../control/pepper.ts';
import { openPeppers } from '../../control/pepper-proof.ts';
import { readGatewayUrl } from '../../control/requests/read-gateways.ts';
import { accountOptionsOf } from '../servers/control-services.ts';
import { callableHost } from '../servers/listen.ts';
import { pepperSources, RUNNING_MS, withStore } from '../store.ts';
import type { OfflineOptions } from './offline-api.ts';

type DashboardAddress = Readonly<{
  url: string;
  /** `running`: reported by a running service. `assumed`: derived from the configuration only. */
  from: 'public_url' | 'command line' | 'running' | 'assumed';
}>;

/** Links returned by these commands are complete URLs. */
export type OperatorCommands = Awaited<ReturnType<typeof commandsOf>>;

const operatorContextOf = (configuration: Configuration, store: Store, actor: string): OperatorContext => ({
  store,
  actor,
  invitationMs: accountOptionsOf(configuration).limits.invitationMs,
  now: Date.now,
});

/** Base URL of the dashboard, derived from the configuration only. */
export function dashboardUrl({ accounts, server }: Configuration): string {
  if (accounts.publicUrl !== null) return new URL(accounts.publicUrl).origin;
  return `${server.tls === null ? 'http' : 'https'}://${callableHost(server.host)}:${server.port}`;
}

async function findDashboardAddress(
  { configuration, isAddressGiven }: OperatorCommandsOptions,
  store: Store,
): Promise<DashboardAddress> {
  const url = dashboardUrl(configuration);
  if (configuration.accounts.publicUrl !== null) return { url, from: 'public_url' };
  if (isAddressGiven) return { url, from: 'command line' };
  const running = await readGatewayUrl(store, hostname(), Date.now() - RUNNING_MS);
  return running === null ? { url, from: 'assumed' } : { url: running, from: 'running' };
}

/**
 * Creates the setup link at the first start. Returns null if an operator or an unused link exists.
 * @param url - base URL of the service, used unless accounts.public_url is set.
 */
export async function firstOperatorLink(
  configuration: Configuration,
  store: Store,
  url: string,
): Promise<string | null> {
  const token = await inviteFirstOperator(operatorContextOf(configuration, store, 'first start'));
  return token === null ? null : `${configuration.accounts.publicUrl ?? url}/setup#token=${token}`;
}

async function resetToken(
  configuration: Configuration,
  store: Store,
  peppers: Peppers,
  email: string,
): Promise<string> {
  const tokens: string[] = [];
  const parts = {
    store,
    peppers,
    options: accountOptionsOf(configuration),
    fallbackUrl: dashboardUrl(configuration),
    // The library passes the token only to the mailer.
    mailReset: async (_email: string, token: string) => void tokens.push(token),
    now: Date.now,
    log: createLogger('silent', () => undefined),
  };
  const library = openSignInLibrary(parts, []);
  await library.api.requestPasswordReset({ body: { email } });
  const [token] = tokens;
  if (token !== undefined) return token;
  throw new ApiError(404, 'NOT_FOUND', 'no account has this email address: check the spelling');
}

type Identity = Parameters<typeof unlinkIdentity>[1];

type OperatorCommandsOptions = OfflineOptions &
  Readonly<{
    /** Whether --host or --port was given. */
    isAddressGiven: boolean;
  }>;

function checkEmail(email: string): void {
  if (emailSchema.safeParse(email).success) return;
  throw new ApiError(422, 'INVALID_FIELDS', 'invalid email address: use the form anna@example.com');
}

function checkProvider({ accounts }: Configuration, { provider }: Identity): void {
  if (accounts.oidc.some(({ id }) => id === provider)) return;
  throw new ApiError(
    422,
    'INVALID_FIELDS',
    'unknown provider: use an id of accounts.oidc in the configuration',
  );
}

async function commandsOf(options: OperatorCommandsOptions, store: Store) {
  const { configuration, environment, actor } = options;
  const peppers = await openPeppers(store, pepperSources(configuration, environment));
  const operatorContext = operatorContextOf(configuration, store, `cli:${actor}`);
  const dashboard = await findDashboardAddress(options, store);
  return {
    dashboard,
    list: () => listOperators(store),
    /** @param email - null: anyone with the link may accept the invitation. @throws ApiError 422 */
    async invite(email: string | null) {
      if (email !== null) checkEmail(email);
      return `${dashboard.url}/${email === null ? 'setup' : 'invite'}#token=${await inviteOperator(operatorContext, email)}`;
    },
    remove: (email: string) => removeOperator(operatorContext, email),
    /** @throws ApiError 404, 409, 422 */
    async link(email: string, identity: Identity) {
      checkProvider(configuration, identity);
      await linkIdentity(operatorContext, email, identity);
    },
    /** @throws ApiError 404, 422 */
    async unlink(identity: Identity) {
      checkProvider(configuration, identity);
      await unlinkIdentity(operatorContext, identity);
    },
    /** @throws ApiError 404, 422 */
    async passwordLink(email: string) {
      checkEmail(email);
      return `${dashboard.url}/reset-password#token=${await resetToken(configuration, store, peppers, email)}`;
    },
  };
}

/** @throws ApiError, OperatorError, or the driver's error */
export const withOperatorCommands = <Result>(
  options: OperatorCommandsOptions,
  work: (commands: OperatorCommands) => Promise<Result>,
): Promise<Result> =>
  withStore(options.configuration, async (store) => work(await commandsOf(options, store)));

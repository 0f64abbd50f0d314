import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Configuration } from '../../config/configuration.ts';
import { showConfiguration } from '../../config/render.ts';
import {
  type AccountLimits,
  type AccountOptions,
  accountLimits,
} from '../../control/accounts/account-options.ts';
import type { ApiServices } from '../../control/api/services.ts';
import type { Store } from '../../control/database/store.ts';
import { type Mailer, mailRateLimiter } from '../../control/notifications/email.ts';
import type { Peppers } from '../../control/pepper.ts';
import type { RpcDispatcher } from '../../protocol/call.ts';
import { PROGRAM_VERSION } from '../program-version.ts';

const DAY_MS = 24 * 3_600_000;

/** URLs of the running service, without a path, and its features. */
export type ServiceAddress = Readonly<{
  url: string;
  /** null if the gRPC listener is disabled. */
  grpcUrl: string | null;
  /** Whether the shred stage has a source; without one, keys of the shred product are rejected. */
  hasShredStage: boolean;
  isDevelopment: boolean;
}>;

export type ControlOptions = Readonly<{
  configuration: Configuration;
  store: Store;
  peppers: Peppers;
  /** Passed in, not imported: the endpoint registry would double the startup time of CLI commands, which pass []. */
  endpoints: ApiServices['endpoints'];
  dispatcher: RpcDispatcher | null;
  mailer: Mailer | null;
  log: Logger;
  /** Further services, such as the request log of a running gateway. */
  additionalServices?: Partial<ApiServices>;
  /** Called only after the listeners are open. */
  serviceAddress: () => ServiceAddress;
}>;

/** Account options. Getters return the current value after a reload; other options change only at a restart. */
export function accountOptionsOf({ accounts }: Configuration): AccountOptions {
  const { publicUrl, oidc, sessionDays, accountFreeAttempts, addressFreeAttempts } = accounts;
  const limits = withDefaults<AccountLimits>(withDefaults<AccountLimits>(accountLimits, accounts), {
    sessionMs: sessionDays * DAY_MS,
    accountAttempts: { ...accountLimits.accountAttempts, freeAttempts: accountFreeAttempts },
    addressAttempts: { ...accountLimits.addressAttempts, freeAttempts: addressFreeAttempts },
  });
  return {
    get signUp() {
      return accounts.signUp;
    },
    publicUrl,
    oidc,
    limits,
  };
}

function urlsOf({ url, grpcUrl }: Pick<ServiceAddress, 'url' | 'grpcUrl'>, publicUrl: string | null) {
  const http = publicUrl ?? url;
  return { http, ws: http.replace(/^http/, 'ws'), grpc: grpcUrl };
}

export function apiServicesOf(options: ControlOptions): ApiServices {
  const { configuration, store, peppers, endpoints, dispatcher, mailer, serviceAddress } = options;
  const accounts = accountOptionsOf(configuration);
  return {
    store,
    peppers,
    keys: configuration.keys,
    endpoints,
    now: Date.now,
    dispatcher,
    mailer,
    mailRateLimiter: mailRateLimiter(configuration.mail, Date.now),
    accounts,
    configuration: () => showConfiguration(configuration),
    configurationFile: configuration.file,
    service() {
      const { isDevelopment, hasShredStage, ...address } = serviceAddress();
      return {
        version: PROGRAM_VERSION,
        signUp: accounts.signUp,
        oidc: accounts.oidc.map(({ id, name }) => ({ id, name })),
        network: configuration.networks.default,
        networks: [...configuration.networks.names],
        urls: urlsOf(address, accounts.publicUrl),
        hasShredStage,
        mode: isDevelopment ? 'development' : 'production',
        plans: configuration.plans.map(({ id, name }) => ({ id, name })),
      };
    },
    ...options.additionalServices,
  };
}

import { createLogger } from '../../base/log.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/sources.ts';
import type { ApiClient } from '../../control/api/client.ts';
import { buildHandlers } from '../../control/api/handlers/handlers.ts';
import { ControlApi } from '../../control/api/server/control-api.ts';
import type { ApiServices } from '../../control/api/services.ts';
import type { Store } from '../../control/database/store.ts';
import type { Peppers } from '../../control/pepper.ts';
import { openPeppers } from '../../control/pepper-proof.ts';
import { apiServicesOf } from '../servers/control-services.ts';
import { pepperSources, withStore } from '../store.ts';

export type OfflineOptions = Readonly<{
  configuration: Configuration;
  environment: Environment;
  actor: string;
}>;

type Prepare = (store: Store, peppers: Peppers) => Partial<ApiServices> | Promise<Partial<ApiServices>>;

/**
 * Runs `work` with a control API in this process. A running service picks up every change within two seconds.
 * @param prepare - called before the API is built; returns additional services.
 * @throws ApiError, OperatorError, or the driver's error.
 */
export async function withOfflineApi<Result>(
  { configuration, environment, actor }: OfflineOptions,
  work: (api: ApiClient) => Promise<Result>,
  prepare: Prepare = () => ({}),
): Promise<Result> {
  return withStore(configuration, async (store) => {
    const peppers = await openPeppers(store, pepperSources(configuration, environment));
    const log = createLogger('silent', () => undefined);
    const services = apiServicesOf({
      ...{ configuration, store, peppers, log, endpoints: [], dispatcher: null, mailer: null },
      additionalServices: await prepare(store, peppers),
      serviceAddress: () => ({ url: '', grpcUrl: null, hasShredStage: false, isDevelopment: false }),
    });
    const api = new ControlApi({ services, handlers: buildHandlers(services), log });
    return work({ call: (name, request) => api.call(name, request, actor) });
  });
}

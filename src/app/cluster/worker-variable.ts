/** The variable of the environment that says which worker a process is; set by the primary alone. */
export const WORKER_VARIABLE = 'SOLWAY_WORKER';

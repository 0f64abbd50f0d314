import fc from 'fast-check';

/** Properties are tried with values up to the greatest length that they name, and not with ten at most. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });

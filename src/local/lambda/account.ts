// The region and account that everything on one machine is in. Emulators take any; templates, ARNs and events must agree.

/** Region of everything on one machine. */
export const localRegion = 'us-east-1';
/** Account of everything on one machine: twelve digits, as AWS has them. */
export const localAccountId = '000000000000';

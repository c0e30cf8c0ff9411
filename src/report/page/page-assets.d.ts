// The bundled script and style sheet of the report; the build makes them.

export const script: string
export const style: string

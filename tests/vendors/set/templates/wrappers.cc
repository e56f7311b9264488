// ${generated_comment}

${definitions}
void register_all() {
${registrations}}

//// copying
${declarator} {
  auto ${result} = ${functional}(${arguments});
  ${copies}
  return ${returned};
}
//// copy_of_list
    for (int64_t i = 0; i < ${result}.size(); ++i) {
        ${copy}(${result}[i], ${out}[i]);
    }

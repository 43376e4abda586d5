print("litevault")
